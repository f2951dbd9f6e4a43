"""Whether a file is still the starter: by its syntax tree, as a whole and name by name."""

import ast
import json
from pathlib import Path

import pytest

from viva.submissions.code_names import syntax_trees
from viva.submissions.starter_code import StarterCode, parameters_of

STARTER = 'import math\n\n\ndef f(x):\n    """Say."""\n    raise NotImplementedError\n\n\nclass A:\n    n = 1\n'


def notebook(*sources: str) -> bytes:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"a": 1}, "cells": cells}).encode()


@pytest.fixture
def starter(tmp_path: Path) -> StarterCode:
    (tmp_path / "solution.py").write_text(STARTER, "utf-8")
    (tmp_path / "work.ipynb").write_bytes(notebook("%pip install x\nimport math", "def g(x):\n    ...", "y = "))
    return StarterCode(tmp_path)


def test_literal_that_python_cannot_write(starter: StarterCode) -> None:
    huge = f"X = 0x{'f' * 9000}\ndef f(x=0x{'f' * 9000}):\n    return x\n".encode()
    assert starter.compare("solution.py", huge).answers == {"f"}
    assert "f" in parameters_of("solution.py", huge)


@pytest.mark.parametrize(
    ("path", "data", "unchanged"),
    [
        ("solution.py", STARTER.encode(), True),
        ("other.py", STARTER.replace("\n", "\r\n").encode(), True),
        ("solution.py", STARTER.encode("utf-16"), True),
        ("solution.py", ("# mine\n" + STARTER.replace("(x)", "(\n  x,\n)")).encode(), True),
        ("solution.py", STARTER.replace("n = 1", "n = 2").encode(), False),
        ("solution.py", (STARTER + "f(1)\n").encode(), False),
        ("solution.py", STARTER.replace("Say.", "Says.").encode(), False),
        ("solution.py", b"def f(:", False),
        ("solution.py", b"", False),
        ("work.ipynb", notebook("%pip install y", "import math\n# a comment", "", "def g(x): ...", "y = "), True),
        ("work.ipynb", notebook("import math", "def g(x):\n    return 1", "y = "), False),
        ("work.ipynb", notebook("import math", "def g(x): ...", "y = 1"), False),
        ("work.ipynb", b"{", False),
        ("notes.txt", STARTER.encode(), True),
        ("notes.txt", b"no code", False),
    ],
)
def test_unchanged_files(starter: StarterCode, path: str, data: bytes, unchanged: bool) -> None:
    assert starter.compare(path, data).is_unchanged is unchanged


def test_unchanged_names(starter: StarterCode) -> None:
    changed = STARTER.replace("n = 1", "n = 2")
    assert starter.compare("solution.py", STARTER.encode()).starter_names == {"A", "f"}
    assert starter.compare("solution.py", changed.encode()).starter_names == {"f"}
    assert starter.compare("work.ipynb", notebook("def g(x): ...", changed)).starter_names == {"f", "g"}
    twice = STARTER + "\n\ndef f(x):\n    return x\n"
    assert starter.compare("solution.py", twice.encode()).starter_names == {"A"}
    assert starter.compare("solution.py", b"def f(:").starter_names == frozenset()


def test_no_starter(tmp_path: Path) -> None:
    none = StarterCode(tmp_path / "nowhere")
    assert not none.compare("solution.py", STARTER.encode()).is_unchanged
    assert not none.compare("a.py", b"f = 1").starter_names


def test_deeply_nested_code(starter: StarterCode) -> None:
    deep = ("f = " + "(" * 90 + "1" + ")" * 90 + "\ng = " + "-" * 50_000 + "1\n").encode()
    compared = starter.compare("solution.py", deep)
    assert not compared.is_unchanged and not compared.starter_names


def test_huge_code_is_compared_as_text(tmp_path: Path) -> None:
    """Four megabytes of calls once took 10 s and 2 GB of the examiner."""
    starter = tmp_path / "starter"
    starter.mkdir()
    (starter / "solution.py").write_text("def f():\n    return 1\n")
    calls = "x = [" + "a.b(c), " * 60_000 + "]\n"
    assert isinstance(syntax_trees([calls])[0], str)
    assert isinstance(syntax_trees(["x = [" + "a.b(c), " * 10_000 + "]\n"])[0], ast.Module)
    assert [type(tree) for tree in syntax_trees(["x = 1"] * 3)] == [ast.Module] * 3
    assert {type(tree) for tree in syntax_trees(["x = 1\n" * 1000] * 100)} == {str}, "all together"
    compared = StarterCode(starter).compare("solution.py", (calls + "def f():\n    return 1\n").encode())
    assert not compared.is_unchanged and compared.own_names == frozenset()
