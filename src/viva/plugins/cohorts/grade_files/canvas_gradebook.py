"""Canvas: write grades into the exported gradebook, in the column `Title (id)` of the assignment."""

import re
from collections.abc import Sequence
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.fill import (
    Filled,
    Identity,
    Layout,
    assignment_column,
    fill,
    find_column,
    has_comma,
    number,
)
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

_COLUMN: Final = re.compile(r"(.*) \(([0-9]+)\)", re.DOTALL)
_POSSIBLE: Final = "Points Possible"
_READ_ONLY: Final = "(read only)"


def canvas(
    table: LosslessCsv,
    grades: Sequence[ReturnedGrade],
    titles: Sequence[str],
    *,
    column: str | None = None,
    rescale: bool = False,
) -> Filled:
    """Write grades into a gradebook export of Canvas.

    Args:
        titles: possible names of the assignment.
        column: the column's header or title, if it has none of these names.

    Raises:
        UsageError: it is not such an export, the column is ambiguous or missing, or its maximum differs.
    """
    id_ = find_column(table, ["ID"])
    if id_ is None or find_column(table, ["Student", "LastName"]) != 0 or find_column(table, ["Section"]) is None:
        raise UsageError(
            f"{table.name} is not a Canvas gradebook: its first row has no Student, ID and Section; "
            "export it there with Grades, Export, Export Entire Gradebook."
        )
    possible = next((row for row in range(1, min(len(table.values), 4)) if _is_possible(table, row)), None)
    named = {i: found[1] for i, title in enumerate(table.header) if i > id_ and (found := _COLUMN.fullmatch(title))}
    gradable = {i: t for i, t in named.items() if possible is None or _READ_ONLY not in table.value(possible, i)}
    at = assignment_column(table, gradable, column, titles)
    rows = [row for row in range(1, len(table.values)) if table.value(row, id_).strip()]
    cells = [table.value(row, i) for row in range(1, len(table.values)) for i in gradable]
    layout = Layout(
        table=table,
        rows=rows,
        identities=_identities(table, id_),
        grade=at,
        maximum=number(table.value(possible, at)) if possible is not None else None,
        excused="EX",
        stays=frozenset({"N/A"}),
        places=2,
        comma=has_comma(cells, otherwise=table.delimiter == ";"),
    )
    return fill(layout, grades, rescale=rescale)


def _is_possible(table: LosslessCsv, row: int) -> bool:
    return table.value(row, 0).strip() == _POSSIBLE


def _identities(table: LosslessCsv, id_: int) -> list[Identity]:
    others = {
        "SIS User ID": ("sis", "id"),
        "SIS Login ID": ("login", "email", "id"),
        "Integration ID": ("integration", "id"),
    }
    found = [(find_column(table, [title]), names) for title, names in others.items()]
    return [Identity(id_, ("canvas",)), *(Identity(i, names) for i, names in found if i is not None)]
