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


def nbgrader(grades: Sequence[ReturnedGrade], assignment: str, due: datetime | None) -> bytes:
    """Write the table of `nbgrader export`: no score for open and excused grades; programs read it, so ids stay."""
    rows = []
    for grade in grades:
        last, first = _names(grade.student.name)
        rows.append(
            [
                assignment,
                _utc(due),
                _utc(grade.submitted_at),
                grade.student.id,
                last,
                first,
                grade.student.email,
                in_decimals(grade.earned) if grade.attempt else "",
                in_decimals(grade.penalty),
                "" if grade.points is None else in_decimals(grade.points),
                in_decimals(grade.maximum),
            ]
        )
    return _csv(NBGRADER, rows)


def plain_csv(grades: Sequence[ReturnedGrade]) -> bytes:
    """Write a table that a person opens in a spreadsheet: no cell can become a formula."""
    rows = [[escaping.csv_cell(_shown(value)) for value in _values(grade)] for grade in grades]
    return _csv(PLAIN, rows)


def parquet(grades: Sequence[ReturnedGrade]) -> bytes:
    """Write the columns of `plain_csv` with types: numbers are doubles, times are instants in UTC.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing_library("Parquet needs", error.name, "parquet") from None
    number, text = pyarrow.float64(), pyarrow.string()
    numbers = {"points", "maximum", "earned", "penalty", "adjusted", "still_open"}
    types = {name: number if name in numbers else text for name in PLAIN}
    types["submitted_at"] = pyarrow.timestamp("us", tz="UTC")
    columns = list(zip(*map(_values, grades), strict=True)) or [()] * len(PLAIN)
    table = pyarrow.table(
        {
            name: pyarrow.array([float(v) if name in numbers and v is not None else v for v in column], types[name])
            for name, column in zip(PLAIN, columns, strict=True)
        }
    )
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def _values(grade: ReturnedGrade) -> tuple[object, ...]:
    student = grade.student
    return (
        *(student.id, student.name, student.email, student.section, grade.state, grade.points, grade.maximum),
        *(grade.earned, grade.penalty, grade.adjusted, grade.still_open, grade.attempt),
        *(grade.submitted_at.astimezone(UTC) if grade.submitted_at else None, grade.why),
    )


def _shown(value: object) -> str:
    if isinstance(value, Fraction):
        return in_decimals(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    return "" if value is None else str(value)


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8")


def _names(name: str) -> tuple[str, str]:
    """Split a name into last and first names: `Lovelace, Ada` or `Ada Lovelace`; one word is a last name."""
    if "," in name:
        last, _, first = name.partition(",")
    else:
        first, _, last = name.strip().rpartition(" ")
    return last.strip(), first.strip()


def _utc(moment: datetime | None) -> str:
    """Format a time as nbgrader does: in UTC, without a zone."""
    return str(moment.astimezone(UTC).replace(tzinfo=None)) if moment else ""
