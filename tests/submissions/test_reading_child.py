"""What could take much memory or time is read in another process, with the same result, or given up in a phrase."""

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.table_rows import Rows
from viva.plugins.training.audits import audit_seeds
from viva.submissions import code_names, notebook_cells
from viva.submissions.code_of_names import code_of
from viva.submissions.notebook_cells import NotebookError, read_here, read_notebook
from viva.submissions.reading_child import Unreadable, read_apart
from viva.submissions.starter_code import StarterCode, defined_names, parameters_of

MIB = 1 << 20


def notebook(source: Any = "x = 1", language: str = "python", **metadata: object) -> bytes:
    cell = {"cell_type": "code", "source": source, "metadata": metadata}
    return json.dumps({"cells": [cell], "metadata": {"kernelspec": {"language": language}}}).encode()


def defined(data: bytes) -> int:
    return len(defined_names("a.py", data))


def code(data: bytes) -> int:
    return len(read_notebook(data).code)


def definition(data: bytes) -> str:
    return code_of(["x"], {"a.py": [data.decode()]})


def seeds(data: bytes) -> str:
    return audit_seeds({"a.py": data.decode()})[0].text


NESTED = b"[" * 20 + b"{}" + b"]" * 20
KEYS = b",".join(b'"%d":[]' % number for number in range(300_000))
LINES = b"a\n" * 120_000
TAKES_MUCH: list[tuple[Callable[[bytes], object], bytes, str]] = [
    (code, b'{"cells":[' + b"{}," * 340_000 + b"{}]}", "10,000 cells"),
    (code, b'{"cells":[{"metadata":{"a":[' + b",".join([NESTED] * 100_000) + b"]}}]}", "far too many values"),
    (code, b'{"cells":[{"metadata":{' + KEYS + b"}}]}", "far too many values"),
    (code, notebook("a\n" * 300_000, "R"), "0"),
    (defined, LINES, "0"),
    (defined, b"x = [" + b"1," * 2_000_000 + b"]", "0"),
    (definition, b"x = 1\n" + LINES, "x = 1"),
    (seeds, b"import random\nrandom.shuffle(x)\n" + LINES, "has no seed"),
]


def test_this_process_stays_small() -> None:
    """Each took 60 to 300 MiB, ten times as long ones up to what a machine has."""
    with Rows() as row:
        for number, (read, data, expected) in enumerate(TAKES_MUCH):
            with row(number):
                tracemalloc.start()
                try:
                    outcome = str(read(data))
                except NotebookError as error:
                    outcome = str(error)
                finally:
                    _, peak = tracemalloc.get_traced_memory()
                    tracemalloc.stop()
                assert expected in outcome
                assert peak < 5 * len(data) + MIB, peak / len(data)


NOTEBOOKS = [
    notebook(),
    notebook(["a = 1\n", "b = '\ud83d'"], tags=["a", 1, None, 2.5, float("nan")], text="\ud800"),
    notebook("x", number=10**30, name={"deep": [[{}]]}),
    notebook("library(ggplot2)", "R"),
    notebook("x = 1", "R"),
    b"{",
    b"[]",
]


def test_notebooks_read_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_cells, "MOST_VALUES_HERE", -1)
    with Rows() as row:
        for n, data in enumerate(NOTEBOOKS):
            with row(n):
                assert _outcome(read_notebook, data) == _outcome(read_here, data)


def _outcome(read: Callable[[bytes], notebook_cells.Notebook], data: bytes) -> object:
    try:
        found = read(data)
    except NotebookError as error:
        return str(error)
    return found, [repr(cell.metadata) for cell in found.cells]


CODE = """
def f(x, y=1, *args):
    return "\N{SNOWMAN}"
class A:
    def g(self, z): ...
def given(x):
    return x
"""


def test_code_read_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "solution.py").write_text("def f(x, y): ...\ndef given(x):\n    return x\n")
    files = {"a.py": CODE, "b.py": "f(", "c.py": "# nothing\n", "d.ipynb": notebook(CODE).decode()}

    def everything() -> list[object]:
        starter = StarterCode(tmp_path)
        return [
            [
                (starter.compare(path, text.encode()), parameters_of(path, text.encode()))
                for path, text in files.items()
            ],
            starter.names,
            starter.parameters,
            code_of(["f", "A"], {"a.py": [CODE, "f = 2"], "b.py": ["f = 3", "f("]}),
        ]

    here = everything()
    monkeypatch.setattr(code_names, "MOST_CHARACTERS_HERE", -1)
    assert everything() == here


def test_too_much_memory() -> None:
    with pytest.raises(Unreadable, match="more than 1 GiB of memory or 20 s"):
        read_apart(bytearray, 2 << 30, returns=bytes)


def test_process_that_ends() -> None:
    with pytest.raises(Unreadable, match="more than 1 GiB"):
        read_apart(os.abort, returns=bool)


@pytest.mark.long
def test_too_much_time() -> None:
    with pytest.raises(Unreadable, match="20 s"):
        read_apart(sum, range(10**12), returns=int)


def test_own_mistakes_are_raised() -> None:
    with pytest.raises(RuntimeError, match="invalid literal for int"):
        read_apart(int, "x", returns=int)
