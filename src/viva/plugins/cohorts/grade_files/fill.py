"""Write grades into the rows of an export: each into the one row that is certainly the student's, or into none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import write_atomically
from viva.formats.decimal_points import in_decimals
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.matching import plain, position_of, unique_positions
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.grade_files.scaled_points import scaled_points

_NUMBER: Final = re.compile(r"\s*[0-9]{1,9}(?:([.,])[0-9]{1,6})?\s*")


@dataclass(frozen=True, slots=True)
class Identity:
    """A column that identifies the student of a row."""

    column: int
    known_as: tuple[str, ...]
    """Which of a student's identifiers it may equal: `id`, `email`, or a key of `Student.also`."""
    of_cell: Callable[[str], str] = plain


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
    excused: str | None = None
    """What is written for an excused student; None where the platform has no such word."""
    stays: frozenset[str] = frozenset()
    """Cells that are never replaced: the platform has not assigned the assignment to this student."""
    places: int = 0
    """Decimal places that are always written."""
    comma: bool = False
    """Whether numbers have a decimal comma."""
    feedback_text: Callable[[str], str] = field(default=lambda text: text)


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
        rescale: convert grades where the platform's maximum differs.

    Raises:
        UsageError: the platform's maximum differs and `rescale` is False.
    """
    by_kind = [(identity.known_as, _index(layout, identity)) for identity in layout.identities]
    found: dict[int, list[ReturnedGrade]] = {}
    without_row, not_written = [], []
    for grade in grades:
        row = position_of(grade.student, by_kind)
        if row is None:
            without_row.append(f"{_name(grade.student)}: no row of {layout.table.name} is certainly theirs")
        else:
            found.setdefault(row, []).append(grade)
    touched = 0
    for row, fitting in found.items():
        if len(fitting) > 1:
            names = " and ".join(_name(grade.student) for grade in fitting)
            without_row.append(f"{names}: all of them fit row {row + 1} of {layout.table.name}, which stays as it was")
            continue
        text = _text(layout, fitting[0], rescale=rescale)
        if text is None:
            not_written.append(f"{_name(fitting[0].student)}: {fitting[0].state}, the row stays as it was")
            continue
        if (current := layout.table.value(row, layout.grade).strip()) in layout.stays:
            not_written.append(f"{_name(fitting[0].student)}: {current} on the platform, the row stays as it was")
            continue
        layout.table.put(row, layout.grade, text)
        _put_feedback(layout, row, fitting[0].why)
        touched += 1
    return Filled(layout.table.to_bytes(), touched, tuple(without_row), tuple(not_written), len(layout.rows) - touched)


def find_column(table: LosslessCsv, names: Sequence[str], start: int = 0) -> int | None:
    """Return the first column with one of these headers, in any case; None if there is none."""
    wanted = {plain(name) for name in names}
    return next((i for i, title in enumerate(table.header) if i >= start and plain(title) in wanted), None)


def assignment_column(
    table: LosslessCsv, candidates: Mapping[int, str], wanted: str | None, titles: Sequence[str]
) -> int:
    """Return the column of an assignment among the columns of grades.

    Args:
        candidates: their numbers and their titles, without what the platform adds.
        wanted: the header or the title that the user gave; None to look for the assignment's `titles`.

    Raises:
        UsageError: no column matches, or several do.
    """
    names = {plain(name) for name in ([wanted] if wanted is not None else titles)}
    fitting = [i for i, title in candidates.items() if {plain(title), plain(table.header[i])} & names]
    if len(fitting) == 1:
        return fitting[0]
    columns = ", ".join(f"`{table.header[i]}`" for i in candidates) or "none"
    many = "several columns are" if fitting else "no column is"
    raise UsageError(
        f"{table.name}: {many} called {' or '.join(f'`{n}`' for n in ([wanted] if wanted is not None else titles))}; "
        f"say which with --column. Columns for grades: {columns}."
    )


def has_comma(cells: Sequence[str], *, otherwise: bool) -> bool:
    """Return whether numbers of an export have a decimal comma; `otherwise` if the cells do not show it."""
    signs = {found[1] for cell in cells if (found := _NUMBER.fullmatch(cell)) and found[1]}
    return "," in signs if len(signs) == 1 else otherwise


def number(cell: str) -> Fraction | None:
    """Read a number of an export, with a decimal point or comma; None if it is not a number."""
    return Fraction(cell.strip().replace(",", ".")) if _NUMBER.fullmatch(cell) else None


def _index(layout: Layout, identity: Identity) -> dict[str, int]:
    """Map identifiers in a column to rows; identifiers of several rows are left out."""
    cells = ((row, identity.of_cell(layout.table.value(row, identity.column))) for row in layout.rows)
    return unique_positions(cells)


def _put_feedback(layout: Layout, row: int, why: str) -> None:
    """Write the explanation, unless the cell has feedback already."""
    if layout.feedback is not None and why and not layout.table.value(row, layout.feedback).strip():
        layout.table.put(row, layout.feedback, layout.feedback_text(why))


def _text(layout: Layout, grade: ReturnedGrade, *, rescale: bool) -> str | None:
    if grade.state == "excused":
        return layout.excused
    points = scaled_points(grade, layout.maximum, layout.table.name, rescale=rescale)
    if points is None:
        return None
    text = in_decimals(points, least=layout.places)
    return text.replace(".", ",") if layout.comma else text


def _name(student: Student) -> str:
    return f"{student.id} ({student.name})" if student.name else student.id
