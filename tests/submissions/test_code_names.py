"""What code imports, binds, changes and uses, as its text tells: a sandbox imports some libraries ahead."""

import ast

import pytest

from tests.support.table_rows import Rows
from viva.submissions.code_imports import imported, preloads
from viva.submissions.code_names import statement_names, used_names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy as np", ["numpy?"]),
        ("import json, os", []),
        ("import scipy.stats", ["scipy?", "scipy.stats?"]),
        ("from scipy import stats, no_such_part", ["scipy?", "scipy.stats?"]),
        ("from scipy.stats import norm", ["scipy?", "scipy.stats?"]),
        ("%matplotlib inline\nimport numpy\n!pip install torch", ["numpy?"]),
        ("%%time\nimport numpy", ["numpy?"]),
        ("def f():\n    import numpy", ["numpy?"]),
        ("from . import numpy", []),
        ("import numpy\nnot valid Python", []),
        ("from numpy import array", ["numpy?"]),
    ],
)
def test_preloads_are_the_slow_libraries_imported(source: str, expected: list[str]) -> None:
    assert preloads([source]) == expected


def test_preloads_are_named_once() -> None:
    assert preloads(["import torch", "import numpy\nimport torch.nn", "import torch"]) == [
        "numpy?",
        "torch?",
        "torch.nn?",
    ]


def test_imported_modules() -> None:
    assert imported("import a.b as c, d\nfrom e.f import g\nfrom .h import i") == ["a.b", "d", "e.f"]


# --- names of statements, also in blocks, functions and comprehensions


def test_statement_names() -> None:
    with Rows() as row:
        for source, binds, changes, uses in [
            ("x = y + 1", {"x"}, set(), {"y"}),
            ("x += y", {"x"}, set(), {"x", "y"}),
            ("a, *b = c", {"a", "b"}, set(), {"c"}),
            ("for i in items:\n    last = i", {"i", "last"}, set(), {"i", "items"}),
            ("def f(x):\n    y = x + z\n    return y", {"f"}, set(), {"z"}),
            ("class C(Base):\n    size = 3\n    def get(self):\n        return other", {"C"}, set(), {"Base", "other"}),
            ("g = lambda x: x + h", {"g"}, set(), {"h"}),
            ("found = [x for x in rows if x > low]", {"found"}, set(), {"rows", "low"}),
            ("table[key].field = value", set(), {"table"}, {"table", "key", "value"}),
            ("table.append(row)", set(), {"table"}, {"table", "row"}),
            ("import a.b as c, d.e", {"c", "d"}, set(), set()),
            ("try:\n    import fast\nexcept ImportError as e:\n    fast = None", {"fast", "e"}, set(), {"ImportError"}),
            ("from math import *", {"*"}, set(), set()),
            ("if (n := len(x)) > 2:\n    del y", {"n"}, set(), {"x", "len"}),
            ("with open(p) as file:\n    text = file.read()", {"file", "text"}, set(), {"open", "p", "file"}),
        ]:  # fmt: skip
            with row(source):
                [names] = statement_names(ast.parse(source).body)
                assert [set(names.binds), set(names.changes), set(names.uses)] == [binds, changes, uses]


def test_calls_do_not_change_imports() -> None:
    statements = ast.parse("import numpy as np\nnp.random.seed(0)\nrows = []\nrows.append(1)").body
    assert [set(names.changes) for names in statement_names(statements)] == [set(), set(), set(), {"rows"}]


def test_used_names() -> None:
    source = "total = sum(map(len, rows)) + f(max)\ndef g(rows):\n    return rows"
    assert used_names(source) == {"sum", "map", "len", "rows", "f", "max"}
