"""Tables of marks are read back by csv and by pyarrow; only the one that people open has its formulas gated."""

import csv
import io
import sys
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pyarrow.parquet
import pytest

from tests.support.lms_grades import ADA, EXCUSED, OPEN, grade
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.grade_tables import write_nbgrader_csv, write_parquet, write_plain_csv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

WHEN = datetime(2026, 12, 2, 1, 0, tzinfo=timezone(timedelta(hours=1)))
EVIL = Student('=HYPERLINK("http://x")', "@SUM(1)", "-1+1", "+A")
GRADES = [
    grade(ADA, "63", earned=Fraction(70), penalty=Fraction(7), attempt="ada/1", submitted_at=WHEN, why="Late.\nVery."),
    EXCUSED,
    grade(EVIL, "0", "missing"),
]


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_nbgrader_columns_and_times() -> None:
    rows = rows_of(write_nbgrader_csv(GRADES, "masks", WHEN))
    assert list(rows[0]) == [
        *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
        *("raw_score", "late_submission_penalty", "score", "max_score"),
    ]
    assert list(rows[0].values()) == [
        *("masks", "2026-12-02 00:00:00", "2026-12-02 00:00:00", "ada", "Lovelace", "Ada", "ada@x.edu"),
        *("70", "7", "63", "100"),
    ]
    assert (rows[1]["score"], rows[1]["timestamp"], rows[1]["raw_score"]) == ("", "", "")
    assert rows[2]["student_id"] == EVIL.id  # a program reads it, and must find the id


def test_no_cell_for_people_is_a_formula() -> None:
    rows = rows_of(write_plain_csv(GRADES))
    assert [row["points"] for row in rows] == ["63", "", "0"]
    assert rows[0]["submitted_at"] == "2026-12-02 00:00:00+00:00"
    assert rows[0]["why"] == "Late.\nVery."
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_parquet_has_types() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(write_parquet(GRADES)))
    first, second, third = table.to_pylist()
    assert (first["points"], first["penalty"], first["submitted_at"]) == (63.0, 7.0, WHEN.astimezone(UTC))
    assert (second["state"], second["points"]) == ("excused", None)
    assert third["student"] == EVIL.id
    assert list(first) == list(rows_of(write_plain_csv(GRADES))[0])


@pytest.mark.parametrize("grades", [[], [OPEN]])
def test_class_without_grades(grades: list[ReturnedGrade]) -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(write_parquet(grades)))
    assert (table.num_rows, table.num_columns) == (len(grades), 14)
    assert len(rows_of(write_plain_csv(grades))) == len(rows_of(write_nbgrader_csv(grades, "a", None))) == len(grades)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'viva-grader\[parquet\]'"):
        write_parquet(GRADES)
