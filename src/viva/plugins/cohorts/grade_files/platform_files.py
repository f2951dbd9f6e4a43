"""The files that platforms export for grades: the gradebooks of Canvas and Brightspace, Moodle's worksheet, Gradescope.

Each function takes the exported table, the grades, possible names of the assignment, the header or title that the user
gave for its column, and whether grades are converted where the maximum differs. It raises UsageError if it is not such
an export, if the column is ambiguous or missing, or if the maximum differs.
"""

import csv
import io
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import in_decimals
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.fill import (
    Filled,
    Identity,
    Layout,
    fill,
    find_assignment_column,
    find_column,
    find_identities,
    has_comma,
    list_filled_rows,
    read_number,
)
from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

Grades = Sequence[ReturnedGrade]
Titles = Sequence[str]
_CANVAS_COLUMN: Final = re.compile(r"(.*) \(([0-9]+)\)", re.DOTALL)
_CANVAS_IDENTITIES: Final = {
    "ID": ("canvas",),
    "SIS User ID": ("sis", "id"),
    "SIS Login ID": ("login", "email", "id"),
    "Integration ID": ("integration", "id"),
}
_BRIGHTSPACE_COLUMN: Final = re.compile(r"(.*) Points Grade(?: <(.*)>)?", re.DOTALL)
_BRIGHTSPACE_MAXIMUM: Final = re.compile(r"\bMaxPoints:([0-9]{1,9}(?:\.[0-9]{1,6})?)\b")
_BRIGHTSPACE_END: Final = "End-of-Line Indicator"
_BRIGHTSPACE_IDENTITIES: Final = {
    "OrgDefinedId": ("brightspace", "sid", "id"), "Username": ("login", "id"), "Email": ("email",),
}  # fmt: skip
# Moodle's headers are translated, but their order is fixed: identifier and name come first, the grade before its
# maximum, and feedback last. The time of the last change stays, because Moodle compares it with its own.
_MOODLE_GRADE: Final = ("Grade", "Bewertung", "Note", "Calificación", "Valutazione", "Nota", "Cijfer")
_MOODLE_MAXIMUM: Final = (
    *("Maximum grade", "Scale", "Bestwertung", "Skala", "Note maximale", "Barème"),
    *("Calificación máxima", "Escala", "Valutazione massima", "Scala", "Maximumcijfer", "Schaal"),
)
_MOODLE_FEEDBACK: Final = (
    *("Feedback comments", "Feedback als Kommentar", "Commentaires de feedback", "Feedback par commentaires"),
    *("Comentarios de retroalimentación", "Commenti", "Feedbackcommentaar"),
)
_PARTICIPANT: Final = re.compile(r"\D*?([0-9]+)")
_MIN_WORKSHEET_COLUMNS: Final = 4


def fill_canvas(
    table: LosslessCsv, grades: Grades, titles: Titles = (), column: str | None = None, *, rescale: bool = False
) -> Filled:
    """Write grades into Canvas's gradebook, in the column `Title (id)` of the assignment."""
    id_ = find_column(table, ["ID"])
    if id_ is None or find_column(table, ["Student", "LastName"]) != 0 or find_column(table, ["Section"]) is None:
        raise UsageError(
            f"{table.name} is not a Canvas gradebook: its first row has no Student, ID and Section; "
            "export it there with Grades, Export, Export Entire Gradebook."
        )
    body = range(1, len(table.values))
    possible = next((row for row in body[:3] if table.value(row, 0).strip() == "Points Possible"), None)
    candidates = {}
    for index, title in enumerate(table.header):
        match = _CANVAS_COLUMN.fullmatch(title)
        is_read_only = possible is not None and "(read only)" in table.value(possible, index)
        if match is not None and index > id_ and not is_read_only:
            candidates[index] = match[1]
    grade = find_assignment_column(table, candidates, column, titles)
    cells = [table.value(row, index) for row in body for index in candidates]
    layout = Layout(
        table,
        [row for row in body if table.value(row, id_).strip()],
        find_identities(table, _CANVAS_IDENTITIES),
        grade,
        read_number(table.value(possible, grade)) if possible is not None else None,
        excused="EX",
        not_assigned="N/A",
        places=2,
        comma=has_comma(cells, otherwise=table.delimiter == ";"),
    )
    return fill(layout, grades, rescale=rescale)


def fill_moodle(
    table: LosslessCsv, grades: Grades, titles: Titles = (), column: str | None = None, *, rescale: bool = False
) -> Filled:
    """Write grades and feedback into Moodle's grading worksheet, whatever the language of its headers."""
    rows = list_filled_rows(table)
    if len(table.header) < _MIN_WORKSHEET_COLUMNS or not all(_read_participant(table.value(row, 0)) for row in rows):
        raise UsageError(
            f"{table.name} is not a grading worksheet of Moodle: its first column holds no identifiers such as "
            "`Participant 12345`; get it there with View all submissions, Download grading worksheet."
        )
    grade = _find_worksheet_grade(table, rows, column)
    maxima = {read_number(table.value(row, grade + 1)) for row in rows}
    if maxima == {None} and any(table.value(row, grade + 1).strip() for row in rows):
        raise UsageError(
            f"{table.name} asks for words of a scale, and viva gives points; use points in this assignment."
        )
    identities = [Identity(0, ("moodle",), _read_participant)]
    for index in range(2, grade):
        values = [value for row in rows if (value := table.value(row, index))]
        if len(values) == len(set(values)):  # a column that may identify students
            identities.append(Identity(index, ("email", "login", "username", "id")))
    layout = Layout(
        table,
        rows,
        identities,
        grade,
        maxima.pop() if len(maxima) == 1 else None,
        feedback=find_column(table, _MOODLE_FEEDBACK, grade),
        places=2,
        comma=has_comma([table.value(row, index) for row in rows for index in (grade, grade + 1)], otherwise=False),
    )
    return fill(layout, grades, rescale=rescale)


def _read_participant(cell: str) -> str:
    """Return the number at the end of an identifier: `Participant 12345`."""
    found = _PARTICIPANT.fullmatch(cell.strip())
    return found[1] if found else ""


def _find_worksheet_grade(table: LosslessCsv, rows: Sequence[int], wanted: str | None) -> int:
    """Find the column by its header and that of the maximum after it, else before the only column of equal numbers."""
    if wanted is not None:
        found = find_column(table, [wanted], 1)
        if found is None or found + 1 >= len(table.header):
            raise UsageError(f"{table.name} has no column `{wanted}` for grades; there are: {', '.join(table.header)}.")
        return found
    named = find_column(table, _MOODLE_MAXIMUM, 2)
    if named is not None and find_column(table, _MOODLE_GRADE, 2) == named - 1:
        return named - 1
    constant = []
    for column in range(3, len(table.header)):
        values = {table.value(row, column) for row in rows}
        if len(values) == 1 and read_number(values.pop()):
            constant.append(column)
    if len(constant) == 1:
        return constant[0] - 1
    raise UsageError(
        f"{table.name}: viva cannot tell which column holds the grades; give its header with --column. "
        f"There are: {', '.join(table.header)}."
    )


def fill_gradescope(
    table: LosslessCsv, grades: Grades, titles: Titles = (), column: str | None = None, *, rescale: bool = False
) -> Filled:
    """Write grades into Gradescope's table of an assignment's grades, as `Total Score`."""
    total, possible = find_column(table, ["Total Score"]), find_column(table, ["Max Points"])
    identities = find_identities(table, {"SID": ("gradescope", "sid", "id"), "Email": ("email", "id")})
    if total is None or not identities:
        raise UsageError(
            f"{table.name} is not an export of an assignment's grades from Gradescope: expected the columns Total "
            "Score and SID or Email; get it there with Review Grades, Download Grades, Download CSV."
        )
    rows = list_filled_rows(table)
    maxima = {read_number(table.value(row, possible)) for row in rows} - {None} if possible is not None else set()
    layout = Layout(table, rows, identities, total, maxima.pop() if len(maxima) == 1 else None)
    return fill(layout, grades, rescale=rescale)


def fill_brightspace(
    table: LosslessCsv, grades: Grades, titles: Titles = (), column: str | None = None, *, rescale: bool = False
) -> Filled:
    """Write grades into Brightspace's (D2L's) gradebook."""
    found = find_identities(table, _BRIGHTSPACE_IDENTITIES)
    if find_column(table, [_BRIGHTSPACE_END]) is None or not any("id" in each.known_as for each in found):
        raise UsageError(
            f"{table.name} is not a Brightspace gradebook: expected the columns OrgDefinedId or Username, and "
            f"{_BRIGHTSPACE_END}; export it there with Grades, Enter Grades, Export."
        )
    items = {i: match for i, title in enumerate(table.header) if (match := _BRIGHTSPACE_COLUMN.fullmatch(title))}
    grade = find_assignment_column(table, {i: match[1] for i, match in items.items()}, column, titles)
    maximum = _BRIGHTSPACE_MAXIMUM.search(items[grade][2] or "")
    identities = [Identity(each.column, each.known_as, _read_without_sign) for each in found]
    rows = list_filled_rows(table)
    layout = Layout(table, rows, identities, grade, Fraction(maximum[1]) if maximum else None)
    return fill(layout, grades, rescale=rescale)


def write_brightspace(grades: Grades, item: str) -> Filled:
    """Write a file with one row for each grade, for an item that exists in Brightspace's gradebook."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["OrgDefinedId", f"{item} Points Grade", _BRIGHTSPACE_END])
    written, left_out = 0, []
    for grade in grades:
        if grade.points is None or grade.state == "excused":
            left_out.append(f"{grade.student.id}: {grade.state}, not in the file")
        else:
            own = grade.student.also.get("brightspace", grade.student.id)
            writer.writerow([f"#{own.removeprefix('#')}", in_decimals(grade.points), "#"])
            written += 1
    return Filled(out.getvalue().encode("utf-8"), written, not_written=tuple(left_out))


def _read_without_sign(cell: str) -> str:
    return cell.strip().removeprefix("#").strip().casefold()


FILLERS: Final[dict[str, Callable[..., Filled]]] = {
    "canvas": fill_canvas,
    "moodle": fill_moodle,
    "gradescope": fill_gradescope,
    "brightspace": fill_brightspace,
}
