"""A class in a terminal and in a spreadsheet."""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from viva.formats.class_table import HEADER, ClassView
from viva.model.attempt import Attempt, Student

ADA, NOA = Student("1", "Ada Lovelace", "ada@x.edu", "A"), Student("2", "נועה לוי")
ATTEMPTS = (
    Attempt("ada", Path("ada"), (ADA,), datetime(2026, 10, 5, 11, 7, tzinfo=UTC), True, 2, source="canvas"),
    Attempt("red", Path("red"), (ADA, NOA), team="Red", source="canvas"),
    Attempt("=x", Path("x"), (), source="canvas"),
)
VIEW = ClassView("canvas", ATTEMPTS, [("README", "is odd")], [Student("3")], ["look here"])


def printed(width: int) -> str:
    out = io.StringIO()
    VIEW.print(file=out, width=width)
    return out.getvalue()


def test_class_in_a_terminal() -> None:
    told = printed(120)
    assert told.startswith(
        "canvas: 3 submissions, 2 students, 1 from a team, 1 late, 1 later attempt, 1 not matched, 1 missing"
    )
    for each in ("2026-10-05 11:07 +0000", "Ada Lovelace (1)", "  README is odd", "  3\n", "  look here"):
        assert each in told


def test_long_lists_are_counted() -> None:
    out = io.StringIO()
    ClassView("folder", (), [], [Student(str(n)) for n in range(300)]).print(file=out, width=80)
    assert "\n  199\n" in out.getvalue() and "\n  200\n" not in out.getvalue()
    assert "and 100 more; --as-csv" in out.getvalue()


def test_class_in_a_spreadsheet() -> None:
    rows = list(csv.reader(io.StringIO(VIEW.csv())))
    assert tuple(rows[0]) == HEADER
    assert all(len(row) == len(HEADER) for row in rows)
    assert [row[:3] for row in rows[1:]] == [
        ["submitted", "ada", "1"],
        ["submitted", "red", "1"],
        ["submitted", "red", "2"],
        ["submitted", "'=x", ""],
        ["missing", "", "3"],
        ["unmatched", "README", ""],
    ]
    assert rows[1][7:10] == ["2026-10-05T11:07:00+00:00", "yes", "2"]
