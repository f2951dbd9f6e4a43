"""Brightspace (D2L): write grades into an exported gradebook, or into a new file that it imports."""

import csv
import io
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import in_decimals
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.fill import Filled, Identity, Layout, assignment_column, fill, find_column
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

_COLUMN: Final = re.compile(r"(.*) Points Grade(?: <(.*)>)?", re.DOTALL)
_MAXIMUM: Final = re.compile(r"\bMaxPoints:([0-9]{1,9}(?:\.[0-9]{1,6})?)\b")
_END: Final = "End-of-Line Indicator"


def brightspace(
    table: LosslessCsv,
    grades: Sequence[ReturnedGrade],
    titles: Sequence[str],
    *,
    column: str | None = None,
    rescale: bool = False,
) -> Filled:
    """Write grades into an exported gradebook.

    Args:
        titles: possible names of the assignment's item.
        column: the column's header or the item's name, if it has none of these names.

    Raises:
        UsageError: it is not such an export, the column is ambiguous or missing, or its maximum differs.
    """
    names = {"OrgDefinedId": ("brightspace", "sid", "id"), "Username": ("login", "id"), "Email": ("email",)}
    found = [(find_column(table, [title]), known_as) for title, known_as in names.items()]
    identities = [Identity(i, known_as, _without_sign) for i, known_as in found if i is not None]
    if find_column(table, [_END]) is None or not any("id" in each.known_as for each in identities):
        raise UsageError(
            f"{table.name} is not a Brightspace gradebook: expected the columns OrgDefinedId or Username, and {_END}; "
            "export it there with Grades, Enter Grades, Export."
        )
    items = {i: each for i, title in enumerate(table.header) if (each := _COLUMN.fullmatch(title))}
    at = assignment_column(table, {i: each[1] for i, each in items.items()}, column, titles)
    maximum = _MAXIMUM.search(items[at][2] or "")
    rows = [row for row in range(1, len(table.values)) if any(table.values[row])]
    layout = Layout(table, rows, identities, at, Fraction(maximum[1]) if maximum else None)
    return fill(layout, grades, rescale=rescale)


def brightspace_new(grades: Sequence[ReturnedGrade], item: str) -> Filled:
    """Write a file with one row for each grade, for an item that exists in the gradebook."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["OrgDefinedId", f"{item} Points Grade", _END])
    written = [grade for grade in grades if grade.points is not None and grade.state != "excused"]
    for grade in written:
        assert grade.points is not None
        own = grade.student.also.get("brightspace", grade.student.id)
        writer.writerow([f"#{own.removeprefix('#')}", in_decimals(grade.points), "#"])
    left = tuple(f"{each.student.id}: {each.state}, not in the file" for each in grades if each not in written)
    return Filled(out.getvalue().encode("utf-8"), len(written), not_written=left)


def _without_sign(cell: str) -> str:
    return cell.strip().removeprefix("#").strip().casefold()
