"""Gradescope: write grades into an exported table of an assignment's grades, as `Total Score`."""

from collections.abc import Sequence

from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.fill import Filled, Identity, Layout, fill, find_column, number
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade


def gradescope(table: LosslessCsv, grades: Sequence[ReturnedGrade], *, rescale: bool = False) -> Filled:
    """Write grades into an export of one assignment's grades.

    Raises:
        UsageError: it is not such an export, or its maximum differs.
    """
    at, most = find_column(table, ["Total Score"]), find_column(table, ["Max Points"])
    columns = {
        "SID": ("gradescope", "sid", "id"),
        "Email": ("email", "id"),
    }
    found = [(find_column(table, [title]), names) for title, names in columns.items()]
    identities = [Identity(i, names) for i, names in found if i is not None]
    if at is None or not any("id" in identity.known_as for identity in identities):
        raise UsageError(
            f"{table.name} is not an export of an assignment's grades from Gradescope: expected the columns Total "
            "Score and SID or Email; get it there with Review Grades, Download Grades, Download CSV."
        )
    rows = [row for row in range(1, len(table.values)) if any(table.values[row])]
    maxima = {number(table.value(row, most)) for row in rows} - {None} if most is not None else set()
    layout = Layout(table, rows, identities, at, maxima.pop() if len(maxima) == 1 else None)
    return fill(layout, grades, rescale=rescale)
