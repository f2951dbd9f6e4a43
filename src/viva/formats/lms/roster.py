"""A class list as CSV: who belongs to the class, and what other systems call them."""

from typing import Final

from viva.formats import gates
from viva.formats.lms.fill import find_column
from viva.formats.lms.sheet import Sheet
from viva.model import Student
from viva.model.errors import UsageError

_ID: Final = ("student_id", "student id", "sid", "identifier", "sis user id", "id", "student")
_FIELDS: Final = {
    "name": ("name", "full name"),
    "first": ("first name", "first_name", "firstname"),
    "last": ("last name", "last_name", "lastname"),
    "email": ("email", "email address", "e-mail"),
    "section": ("section", "sections", "group"),
}
_ALSO: Final = {
    "canvas": ("canvas", "canvas_id"),
    "moodle": ("moodle", "moodle_id"),
    "gradescope": ("gradescope",),
    "brightspace": ("brightspace", "orgdefinedid"),
    "github": ("github", "github_username"),
    "login": ("login", "username", "sis login id"),
}


def roster(sheet: Sheet) -> list[Student]:
    """The students of a class list, in its order.

    Args:
        sheet: has a column `student` (or student_id, SID, identifier); others are taken where they are known.

    Raises:
        UsageError: there is no such column, or a row's id is missing or was there before.
    """
    at = next((i for name in _ID if (i := find_column(sheet, [name])) is not None), None)
    if at is None:
        raise UsageError(
            f"{sheet.name} has no column of students' ids; expected `student`, `student_id`, `SID` or `identifier` "
            f"in its first row, found: {gates.line(', '.join(sheet.header))}."
        )
    columns = {field: find_column(sheet, names) for field, names in {**_FIELDS, **_ALSO}.items()}
    students: dict[str, Student] = {}
    for row in range(1, len(sheet.values)):
        if not any(cell.strip() for cell in sheet.values[row]):
            continue
        told = {f: sheet.value(row, i).strip() if i is not None else "" for f, i in columns.items()}
        id_ = sheet.value(row, at).strip()
        if not id_ or id_ in students:
            problem = f"`{gates.line(id_)}` stands there twice" if id_ else "the student's id is missing"
            raise UsageError(f"{sheet.name}, row {row + 1}: {problem}; give everybody an id of their own.")
        students[id_] = Student(
            id_,
            told["name"] or f"{told['first']} {told['last']}".strip(),
            told["email"],
            told["section"],
            {system: told[system] for system in _ALSO if told[system]},
        )
    return list(students.values())
