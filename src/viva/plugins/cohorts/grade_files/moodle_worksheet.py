"""Moodle: write grades and feedback into the grading worksheet, whatever the language of its headers.

Headers are translated, but their order is fixed: identifier and name come first, the grade before its maximum, and
feedback last. The time of the last change is left unchanged, because Moodle compares it with its own.
"""

import re
from collections.abc import Sequence
from typing import Final

from viva.formats import escaping
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.fill import Filled, Identity, Layout, fill, find_column, has_comma, number
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

_GRADE: Final = ("Grade", "Bewertung", "Note", "Calificación", "Valutazione", "Nota", "Cijfer")
_MAXIMUM: Final = (
    *("Maximum grade", "Scale", "Bestwertung", "Skala", "Note maximale", "Barème"),
    *("Calificación máxima", "Escala", "Valutazione massima", "Scala", "Maximumcijfer", "Schaal"),
)
_FEEDBACK: Final = (
    *("Feedback comments", "Feedback als Kommentar", "Commentaires de feedback", "Feedback par commentaires"),
    *("Comentarios de retroalimentación", "Commenti", "Feedbackcommentaar"),
)
_IDENTIFIER: Final = re.compile(r"\D*?([0-9]+)")
_LEAST: Final = 4


def moodle(
    table: LosslessCsv, grades: Sequence[ReturnedGrade], *, column: str | None = None, rescale: bool = False
) -> Filled:
    """Write grades into a grading worksheet.

    Args:
        column: the header of the column of grades, if the worksheet is in an unknown language.

    Raises:
        UsageError: it is not a grading worksheet, its column of grades cannot be found, or its maximum differs.
    """
    rows = [row for row in range(1, len(table.values)) if any(table.values[row])]
    if len(table.header) < _LEAST or not all(_participant(table.value(row, 0)) for row in rows):
        raise UsageError(
            f"{table.name} is not a grading worksheet of Moodle: its first column holds no identifiers such as "
            "`Participant 12345`; get it there with View all submissions, Download grading worksheet."
        )
    at = _grade_column(table, rows, column)
    feedback = find_column(table, _FEEDBACK, at)
    maxima = {number(table.value(row, at + 1)) for row in rows}
    if maxima == {None} and any(table.value(row, at + 1).strip() for row in rows):
        raise UsageError(
            f"{table.name} asks for words of a scale, and viva gives points; use points in this assignment."
        )
    cells = [table.value(row, i) for row in rows for i in (at, at + 1)]
    layout = Layout(
        table=table,
        rows=rows,
        identities=[
            Identity(0, ("moodle",), _participant),
            *(Identity(i, ("email", "login", "username", "id")) for i in range(2, at) if _tells_apart(table, rows, i)),
        ],
        grade=at,
        maximum=maxima.pop() if len(maxima) == 1 else None,
        feedback=feedback,
        places=2,
        comma=has_comma(cells, otherwise=False),
        feedback_text=_html,
    )
    return fill(layout, grades, rescale=rescale)


def _participant(cell: str) -> str:
    """Return the number at the end of an identifier: `Participant 12345`."""
    found = _IDENTIFIER.fullmatch(cell.strip())
    return found[1] if found else ""


def _tells_apart(table: LosslessCsv, rows: Sequence[int], column: int) -> bool:
    """Return whether a column may identify students: no two rows have the same value."""
    values = [value for row in rows if (value := table.value(row, column))]
    return len(values) == len(set(values))


def _grade_column(table: LosslessCsv, rows: Sequence[int], column: str | None) -> int:
    """Find the column by its header and that of the maximum after it, else before the only column of equal numbers."""
    if column is not None:
        found = find_column(table, [column], 1)
        if found is None or found + 1 >= len(table.header):
            raise UsageError(f"{table.name} has no column `{column}` for grades; there are: {', '.join(table.header)}.")
        return found
    named = find_column(table, _MAXIMUM, 2)
    if named is not None and find_column(table, _GRADE, 2) == named - 1:
        return named - 1
    constant = [
        i
        for i in range(3, len(table.header))
        if rows and len({table.value(row, i) for row in rows}) == 1 and number(table.value(rows[0], i))
    ]
    if len(constant) == 1:
        return constant[0] - 1
    raise UsageError(
        f"{table.name}: viva cannot tell which column holds the grades; give its header with --column. "
        f"There are: {', '.join(table.header)}."
    )


def _html(text: str) -> str:
    """Convert feedback to HTML, as which Moodle reads it."""
    return "<br />".join(escaping.html(line) for line in text.split("\n"))
