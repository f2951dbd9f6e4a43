"""What a statement binds, changes and uses is what Python makes of it, also in blocks, functions and comprehensions."""

import ast

from tests.support.table_rows import Rows
from viva.submissions.statement_names import statement_names, uncalled_names, used_names


def test_what_a_statement_does_to_the_names_of_its_module() -> None:
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
                [found] = statement_names(ast.parse(source).body)
                assert (found.binds, found.changes, found.uses) == (binds, changes, uses)


def test_what_is_imported_is_not_changed_by_calling_it() -> None:
    statements = ast.parse("import numpy as np\nnp.random.seed(0)\nrows = []\nrows.append(1)").body
    assert [set(found.changes) for found in statement_names(statements)] == [set(), set(), set(), {"rows"}]


def test_names_that_code_uses_and_never_calls() -> None:
    source = "total = sum(map(len, rows)) + f(max)\ndef g(rows):\n    return rows"
    assert used_names(source) == {"sum", "map", "len", "rows", "f", "max"}
    assert uncalled_names(source) == {"total", "len", "rows", "max"}
