"""Write grades as tables: nbgrader's CSV, a CSV for people, Parquet for programs."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import in_decimals
from viva.model.extras import missing_library
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

NBGRADER: Final = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)
PLAIN: Final = (
    *("student", "name", "email", "section", "state", "points", "maximum"),
    *("earned", "penalty", "adjusted", "still_open", "submission", "submitted_at", "why"),
)
_NUMBERS: Final = ("points", "maximum", "earned", "penalty", "adjusted", "still_open")


def write_nbgrader_csv(grades: Sequence[ReturnedGrade], assignment: str, due: datetime | None) -> bytes:
    """Write the table of `nbgrader export`: no score for open and excused grades; programs read it, so ids stay."""
    rows = []
    for grade in grades:
        student = grade.student
        last, _, first = student.name.partition(",")
        if not first:
            first, _, last = student.name.strip().rpartition(" ")  # one word is a last name
        earned = in_decimals(grade.earned) if grade.attempt else ""
        score = "" if grade.points is None else in_decimals(grade.points)
        moments = _format_utc(due), _format_utc(grade.submitted_at)
        names = student.id, last.strip(), first.strip(), student.email
        rows.append([assignment, *moments, *names, earned, in_decimals(grade.penalty), score])
        rows[-1].append(in_decimals(grade.maximum))
    return _write_csv(NBGRADER, rows)


def write_plain_csv(grades: Sequence[ReturnedGrade]) -> bytes:
    """Write a table that a person opens in a spreadsheet: no cell can become a formula."""
    rows = [[escaping.csv_cell(_format(value)) for value in _list_values(grade)] for grade in grades]
    return _write_csv(PLAIN, rows)


def write_parquet(grades: Sequence[ReturnedGrade]) -> bytes:
    """Write the columns of `write_plain_csv` with types: numbers are doubles, times are instants in UTC.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing_library("Parquet needs", error.name, "parquet") from None
    types = dict.fromkeys(PLAIN, pyarrow.string()) | dict.fromkeys(_NUMBERS, pyarrow.float64())
    types["submitted_at"] = pyarrow.timestamp("us", tz="UTC")
    rows = [dict(zip(PLAIN, _list_values(grade), strict=True)) for grade in grades]
    for row in rows:
        row |= {name: float(value) for name, value in row.items() if isinstance(value, Fraction)}
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(types)), out)
    return out.getvalue()


def _list_values(grade: ReturnedGrade) -> tuple[object, ...]:
    student = grade.student
    return (
        *(student.id, student.name, student.email, student.section, grade.state, grade.points, grade.maximum),
        *(grade.earned, grade.penalty, grade.adjusted, grade.still_open, grade.attempt),
        *(grade.submitted_at.astimezone(UTC) if grade.submitted_at else None, grade.why),
    )


def _format(value: object) -> str:
    if isinstance(value, Fraction):
        return in_decimals(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    return "" if value is None else str(value)


def _write_csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8")


def _format_utc(moment: datetime | None) -> str:
    """Format a time as nbgrader does: in UTC, without a zone."""
    return str(moment.astimezone(UTC).replace(tzinfo=None)) if moment else ""
