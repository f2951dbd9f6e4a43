"""Write grades into the rows of an export: each into the one row that is certainly the student's, or into none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.formats.decimal_points import in_decimals
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import (
    ReturnedGrade,
    find_position,
    index_positions,
    normalize_identifier,
    scale_points,
)

_NUMBER: Final = re.compile(r"\s*[0-9]{1,9}(?:([.,])[0-9]{1,6})?\s*")


@dataclass(frozen=True, slots=True)
class Identity:
    """A column that identifies the student of a row."""

    column: int
    known_as: tuple[str, ...]
    """Which of a student's identifiers it may equal: `id`, `email`, or a key of `Student.also`."""
    read: Callable[[str], str] = normalize_identifier


@dataclass(slots=True)
class Layout:
    """The rows and columns of an export, and the format of its cells."""

    table: LosslessCsv
    rows: Sequence[int]
    """The rows of students."""
    identities: Sequence[Identity]
    """The platform's own identifiers come before `id`, which may be another student's on the platform."""
    grade: int
    """The column of the grade."""
    maximum: Fraction | None
    """The platform's maximum; None if unknown."""
    feedback: int | None = None
    """The column for feedback as HTML."""
    excused: str | None = None
    """What is written for an excused student; None where the platform has no such word."""
    not_assigned: str = ""
    """A cell that is never replaced: the platform has not assigned the assignment to this student."""
    places: int = 0
    """Decimal places that are always written."""
    comma: bool = False
    """Whether numbers have a decimal comma."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The file, and messages about it."""

    data: bytes
    written: int
    without_row: tuple[str, ...] = ()
    """A sentence for each grade without a matching row."""
    not_written: tuple[str, ...] = ()
    """A sentence for each grade that is not returned: open, missing, or excused where there is no word for it."""
    untouched: int = 0
    """Rows of students that are unchanged."""

    def write(self, path: Path) -> None:
        """Write the file.

        Raises:
            UsageError: it cannot be written.
        """
        write_atomically(path, self.data)


def fill(layout: Layout, grades: Sequence[ReturnedGrade], *, rescale: bool = False) -> Filled:
    """Write grades into an export.

    Args:
        layout: the export.
        grades: the grades.
        rescale: convert grades where the platform's maximum differs.

    Raises:
        UsageError: the platform's maximum differs and `rescale` is False.
    """
    table = layout.table
    by_kind = []
    for identity in layout.identities:
        cells = ((row, identity.read(table.value(row, identity.column))) for row in layout.rows)
        by_kind.append((identity.known_as, index_positions(cells)))
    found: dict[int, list[ReturnedGrade]] = {}
    without_row, not_written = [], []
    for grade in grades:
        row = find_position(grade.student, by_kind)
        if row is None:
            without_row.append(f"{_name(grade.student)}: no row of {table.name} is certainly theirs")
        else:
            found.setdefault(row, []).append(grade)
    touched = 0
    for row, (grade, *others) in found.items():
        text = _format_grade(layout, grade, rescale=rescale)
        there = table.value(row, layout.grade).strip()
        if others:
            names = " and ".join(_name(each.student) for each in (grade, *others))
            without_row.append(f"{names}: all of them fit row {row + 1} of {table.name}, which stays as it was")
        elif text is None:
            not_written.append(f"{_name(grade.student)}: {grade.state}, the row stays as it was")
        elif there and there == layout.not_assigned:
            not_written.append(f"{_name(grade.student)}: {there} on the platform, the row stays as it was")
        else:
            table.put(row, layout.grade, text)
            if layout.feedback is not None and grade.why and not table.value(row, layout.feedback).strip():
                lines = map(escaping.html, grade.why.split("\n"))
                table.put(row, layout.feedback, "<br />".join(lines))
            touched += 1
    return Filled(table.to_bytes(), touched, tuple(without_row), tuple(not_written), len(layout.rows) - touched)


def find_column(table: LosslessCsv, names: Sequence[str], start: int = 0) -> int | None:
    """Return the first column with one of these headers, in any case; None if there is none."""
    wanted = {normalize_identifier(name) for name in names}
    headers = enumerate(table.header)
    return next((i for i, title in headers if i >= start and normalize_identifier(title) in wanted), None)


def find_identities(table: LosslessCsv, columns: Mapping[str, tuple[str, ...]]) -> list[Identity]:
    """Return the columns that identify students, of those with these headers."""
    found = [(find_column(table, [title]), known_as) for title, known_as in columns.items()]
    return [Identity(column, known_as) for column, known_as in found if column is not None]


def list_filled_rows(table: LosslessCsv) -> list[int]:
    """Return the numbers of the rows that are not empty, without the header."""
    return [row for row in range(1, len(table.values)) if any(table.values[row])]


def find_assignment_column(
    table: LosslessCsv, candidates: Mapping[int, str], wanted: str | None, titles: Sequence[str]
) -> int:
    """Return the column of an assignment among the columns of grades.

    Args:
        table: the export.
        candidates: their numbers and their titles, without what the platform adds.
        wanted: the header or the title that the user gave; None to look for the assignment's `titles`.
        titles: possible names of the assignment.

    Raises:
        UsageError: no column matches, or several do.
    """
    names = list(titles) if wanted is None else [wanted]
    normalized = {normalize_identifier(name) for name in names}
    fitting = []
    for column, title in candidates.items():
        if normalized & {normalize_identifier(title), normalize_identifier(table.header[column])}:
            fitting.append(column)
    if len(fitting) == 1:
        return fitting[0]
    columns = ", ".join(f"`{table.header[column]}`" for column in candidates) or "none"
    many = "several columns are" if fitting else "no column is"
    raise UsageError(
        f"{table.name}: {many} called {' or '.join(f'`{name}`' for name in names)}; "
        f"say which with --column. Columns for grades: {columns}."
    )


def has_comma(cells: Sequence[str], *, otherwise: bool) -> bool:
    """Return whether numbers of an export have a decimal comma; `otherwise` if the cells do not show it."""
    matches = [_NUMBER.fullmatch(cell) for cell in cells]
    signs = {match[1] for match in matches if match is not None} - {None}
    return "," in signs if len(signs) == 1 else otherwise


def read_number(cell: str) -> Fraction | None:
    """Read a number of an export, with a decimal point or comma; None if it is not a number."""
    return Fraction(cell.strip().replace(",", ".")) if _NUMBER.fullmatch(cell) else None


def _format_grade(layout: Layout, grade: ReturnedGrade, *, rescale: bool) -> str | None:
    if grade.state == "excused":
        return layout.excused
    points = scale_points(grade, layout.maximum, layout.table.name, rescale=rescale)
    if points is None:
        return None
    text = in_decimals(points, least=layout.places)
    return text.replace(".", ",") if layout.comma else text


def _name(student: Student) -> str:
    return f"{student.id} ({student.name})" if student.name else student.id
