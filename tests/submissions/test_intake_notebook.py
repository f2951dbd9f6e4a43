"""Notebooks are read whatever is wrong with them, and what cannot be read is one phrase for the student."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.submissions.notebook_cells import About, Notebook, NotebookError, about, read_notebook


def cell(kind: Any = "code", source: Any = "x = 1", **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {}} | more


def notebook(*cells: Any, **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)} | more).encode()


def sources(data: bytes) -> list[str]:
    return [c.source for c in read_notebook(data).code]


def test_numbers_of_cells() -> None:
    """After Restart and Run All: code cells that hold anything, from 1."""
    read = read_notebook(
        notebook(
            cell("markdown", "# Hi"), cell(), cell(source="  \n"), cell("raw", "raw"), cell(source=["y = 2\n", "z = 3"])
        )
    )
    assert [(c.number, c.position, c.kind) for c in read.cells] == [
        (0, 1, "markdown"), (1, 2, "code"), (0, 3, "code"), (0, 4, "raw"), (2, 5, "code"),
    ]  # fmt: skip
    assert [c.source for c in read.code] == ["x = 1", "y = 2\nz = 3"]
    assert [c.source for c in read.prose] == ["# Hi"]


READ = [
    # what is missing or of the wrong type does not matter
    (json.dumps({"cells": [{"cell_type": "code", "source": "x"}]}).encode(), ["x"]),
    (json.dumps({"cells": [{"source": "x"}]}).encode(), ["x"]),
    (notebook(cell(metadata=[1, 2], id=5), cell(id=5), metadata="no"), ["x = 1", "x = 1"]),
    (notebook(cell(outputs="wrong", execution_count="a")), ["x = 1"]),
    (notebook(cell(source=["a", 5, None, "b"])), ["ab"]),
    (notebook(cell(source=7), cell(source=None), cell(source={"a": 1})), []),
    (notebook("no cell", None, 5, [], cell()), ["x = 1"]),
    (notebook(cell("widget", "w"), cell(5, "w")), []),
    (notebook(cell(), nbformat="four"), ["x = 1"]),
    # format 3
    (
        json.dumps(
            {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b"]}]}]}
        ).encode(),
        ["a = 1\nb"],
    ),
    (
        json.dumps({"worksheets": [5, {"cells": 5}, {"cells": [{"cell_type": "code", "input": "a"}]}]}).encode(),
        ["a"],
    ),
    # encodings
    (b"\xef\xbb\xbf" + notebook(cell()), ["x = 1"]),
    (notebook(cell()).decode().encode("utf-16"), ["x = 1"]),
    (b'{"cells": [{"cell_type": "code", "source": "caf\xe9"}]}', ["café"]),
    # values that JSON should not have
    (b'{"cells": [{"cell_type": "code", "source": "x", "execution_count": NaN}]}', ["x"]),
    (b'{"cells": [{"cell_type": "code", "source": "x", "execution_count": ' + b"9" * 100_000 + b"}]}", ["x"]),
    (b'{"cells": [{"cell_type": "code", "source": "a\\ud800b"}]}', ["a\ufffdb"]),
    (b'{"cells": [{"cell_type": "code", "source": ["\\ud83d", "\\ude00"]}]}', ["\U0001f600"]),
    (b'{"cells": [], "cells": [{"cell_type": "code", "source": "last"}]}', ["last"]),
    (notebook(), []),
]


def test_odd_notebooks_are_read() -> None:
    with Rows() as row:
        for n, (data, expected) in enumerate(READ):
            with row(n):
                assert sources(data) == expected


def in_language(language: str, *cells: Any) -> Notebook:
    return read_notebook(notebook(*cells, metadata={"kernelspec": {"name": "k", "language": language}}))


@pytest.mark.parametrize("output", ["", "x" * (9 << 20)], ids=["small", "large"])
def test_notebook_in_another_language(output: str) -> None:
    function = cell(source="function f(x)\n x + 1\nend", outputs=[output])
    read = in_language("julia", function, cell("markdown", "Why?"), cell(source="f(1)"))
    assert read.code == () and [c.source for c in read.prose] == ["Why?"]
    assert read.notes == ("The notebook is in julia, not in Python: none of its code was run.",)


def test_python_under_another_name() -> None:
    for language in ("R", "python3", "conda", "Python"):
        read = in_language(language, cell(source="%pip install x\ny = 1"))
        assert len(read.code) == 1 and not read.notes


def test_headings_of_format_3_are_prose() -> None:
    data = json.dumps(
        {"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": ["2.1 Why"]}]}]}
    ).encode()
    assert [c.source for c in read_notebook(data).prose] == ["## 2.1 Why"]


def test_cells_of_an_unknown_kind() -> None:
    read = read_notebook(notebook(cell(), cell("widget"), cell("video")))
    assert len(read.code) == 1 and read.prose == ()
    (note,) = read.notes
    assert "not run: 2, 3 (counted over all cells)" in note


TRUNCATED = notebook(*[cell(source=f"line {i}\n" * 3) for i in range(5)])


UNREADABLE = [
    (b"", "the notebook is empty (0 bytes)"),
    (b"  \n", "the notebook is empty (3 bytes)"),
    (TRUNCATED[: len(TRUNCATED) // 2], "the notebook breaks off in line 1, so the file is not complete"),
    (json.dumps({"cells": [cell()]}, indent=1).encode()[:-4], "the notebook breaks off in line"),
    (b'{"cells": [}', "the notebook is damaged in line 1"),
    (b"print('hello')\n", "the file is not a notebook (it does not begin as one)"),
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "the file is not a notebook"),
    (bytes(range(256)) * 10, "the file is not a notebook"),
    (b"<html><body>Sign in</body></html>", "the file is a web page, not a notebook"),
    (b"PK\x03\x04" + bytes(50), "the file is an archive, not a notebook"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer, not a notebook"),
    (b'{\n "cells": [\n<<<<<<< HEAD\n 1\n=======\n 2\n>>>>>>> x\n]}', "an unresolved Git conflict in line 3"),
    (b"[1, 2]", "the file is not a notebook (it holds a list)"),
    (b"5", "the file is not a notebook (it holds a single value)"),
    (b"{}", "the file is not a notebook (it has no list of cells)"),
    (b'{"cells": {}}', "the file is not a notebook (it has no list of cells)"),
    (b'{"cells":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the notebook is nested too deeply"),
    (b'{"a":' * 100_000, "the notebook is nested too deeply"),
    (b'{"cells": [' + b"[]," * 600_000 + b"[]]}", "the notebook has more than 10,000 cells"),
    (b'{"cells": [' + b"0," * 6_000_000 + b"0]}", "the notebook has more than 10,000 cells"),
    (b'{"cells": [' + b"{}," * 2_000_000 + b"{}]}", "the notebook has more than 10,000 cells"),
    (notebook(*[cell()] * 10_001), "the notebook has more than 10,000 cells"),
    (notebook(cell(source="x" * (9 << 20))), "the cells hold more than 8 MiB of text"),
    (b" " * (65 << 20) + b"{}", "the notebook is larger than 64 MiB"),
]


MANY_KEYS = b"{" + b",".join(b'"k%d":0' % number for number in range(2_000_000)) + b"}"
AROUND = notebook(cell(outputs=[{"data": "MANY"}]))


def test_outputs_of_any_size() -> None:
    """A figure may hold millions of numbers; where they are in what is read, the notebook is refused."""
    started = time.thread_time()
    assert sources(AROUND.replace(b'"MANY"', MANY_KEYS)) == ["x = 1"]
    assert sources(AROUND.replace(b'"MANY"', b"[" + b"0.25," * 8_000_000 + b"1]")) == ["x = 1"]
    with pytest.raises(NotebookError, match="far too many values"):
        read_notebook(notebook(cell(metadata="MANY")).replace(b'"MANY"', MANY_KEYS))
    assert time.thread_time() - started < 3


@pytest.mark.parametrize("part", ["metadata", "cell", "language", "output"])
@pytest.mark.parametrize("size", [1, 9 << 20])
@pytest.mark.parametrize("value", ["9" * 5000, "-" + "9" * 5000, "1e999999"])
def test_value_of_any_size(part: str, size: int, value: str) -> None:
    """An integer of 5,000 digits in a large notebook was a fault of the grader's."""
    parts = {name: value if name == part else "1" for name in ("metadata", "cell", "language", "output")}
    data = (
        f'{{"cells":[{{"cell_type":"code","source":"x = 1","metadata":{{"n":{parts["cell"]}}},"outputs":[{{"text":'
        f'"{"a" * size}","n":{parts["output"]}}}]}}],"metadata":{{"n":{parts["metadata"]},'
        f'"kernelspec":{{"language":{parts["language"]}}}}},"nbformat":4,"nbformat_minor":5}}'
    ).encode()
    assert about(data) == About()
    assert [cell.source for cell in read_notebook(data).code] == ["x = 1"]


def test_unreadable_notebook() -> None:
    with Rows() as row:
        for n, (data, part) in enumerate(UNREADABLE):
            with row(n, part):
                started = time.thread_time()
                with pytest.raises(NotebookError) as caught:
                    read_notebook(data)
                assert part in str(caught.value)
                assert "\n" not in str(caught.value)
                assert time.thread_time() - started < 3


KEYS = ["cells", "worksheets", "cell_type", "source", "input", "level", "metadata"]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


def reads_or_says_why(data: bytes) -> None:
    """Anything but a NotebookError would end the test."""
    try:
        read = read_notebook(data)
    except NotebookError:
        return
    assert isinstance(read, Notebook)
    for each in read.cells:
        each.source.encode("utf-8")


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    reads_or_says_why(data)


@given(JSON)
def test_no_json_raises_anything_else(value: Any) -> None:
    reads_or_says_why(json.dumps(value).encode())
    reads_or_says_why(json.dumps({"cells": value}).encode())
    reads_or_says_why(json.dumps({"cells": [value, {"source": value, "cell_type": value}]}).encode())


@given(st.integers(0, 400), st.binary(max_size=3))
def test_no_damage_raises_anything_else(at: int, junk: bytes) -> None:
    reads_or_says_why(TRUNCATED[:at] + junk + TRUNCATED[at + 1 :])


@pytest.mark.parametrize("metadata", [None, 3, [], "x", {}, {"nbgrader": {"grade_id": "a"}}])
def test_metadata_of_a_cell(metadata: Any) -> None:
    """They are a mapping, whatever the file says; what is in it is for whoever asks."""
    data = json.dumps({"cells": [{"cell_type": "code", "source": "1", "metadata": metadata}], "nbformat": 4}).encode()
    assert read_notebook(data).cells[0].metadata == (metadata if isinstance(metadata, dict) else {})
