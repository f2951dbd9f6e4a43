"""What changed over a class: the largest change first, each test counted, and a table without formulas."""

import csv
import io
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from viva.formats.difference import by_change, difference, summary, to_csv
from viva.formats.results_json import Results, results_of
from viva.model import Case, Entry, Score, Status


def results(**earned: str | None) -> Results:
    """A result whose tests have so many of 10 points; None where one is still open."""
    entries = []
    for name, points in earned.items():
        won = Fraction(points or 0)
        status = Status.NEEDS_REVIEW if points is None else Status.PASSED if won == 10 else Status.FAILED
        case = Case("", status, won, Fraction(10), "")
        entries.append(Entry(f"t.py::{name}", name, "1", "visible", status, won, Fraction(10), (case,)))
    return results_of(Score("s", "0" * 64, "a", 1, tuple(entries)))


CLASS = [
    difference("ada", results(a="10", b="0"), results(a="10", b="10")),
    difference("bo", results(a="10", b="1/3"), results(a="0", b="1/3")),
    difference("eve", results(a="5", b=None), results(a="5", b="2.5")),
    difference("=kim", results(a="5"), results(a="5")),
    difference("zoe", None, results(a="5")),
]


def test_largest_change_comes_first() -> None:
    assert [each.name for each in by_change(CLASS)] == ["ada", "bo", "eve", "=kim", "zoe"]
    assert [each.points for each in by_change(CLASS)] == [10, -10, Fraction(5, 2), 0, 0]


def test_a_class_in_three_lines() -> None:
    assert summary(CLASS) == [
        "t.py::b: changed for 2, +12.5 points",
        "t.py::a: changed for 1, −10 points",
        "2 with more points, 1 with fewer, +12.5 and −10 points.",
    ]


def test_table_of_changes() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(by_change(CLASS)).decode(), newline="")))
    assert rows[1:] == [
        ["ada", "total", "", "", "10", "20", "10"],
        ["ada", "t.py::b", "failed", "passed", "0", "10", "10"],
        ["bo", "total", "", "", "10.3333", "0.3333", "-10"],
        ["bo", "t.py::a", "passed", "failed", "10", "0", "-10"],
        ["eve", "total", "", "", "5", "7.5", "2.5"],
        ["eve", "t.py::b", "needs_review", "failed", "0", "2.5", "2.5"],
        ["'=kim", "total", "", "", "5", "5", "0"],
        ["zoe", "total", "no result", "", "", "5", ""],
    ]


def test_missing_test_is_a_change() -> None:
    only = difference("x", results(a="10"), results(b="10"))
    assert {change.test_id: int(change.points) for change in only.tests} == {"t.py::a": -10, "t.py::b": 10}


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=5))
def test_changes_add_up(points: list[tuple[int, int]]) -> None:
    old = results(**{f"t{i}": str(one) for i, (one, _) in enumerate(points)})
    new = results(**{f"t{i}": str(two) for i, (_, two) in enumerate(points)})
    found = difference("x", old, new)
    assert sum(change.points for change in found.tests) == found.points
    assert len(found.tests) == sum(one != two for one, two in points)
