"""Find out what each column of a class list holds: by its header in any case, or (Moodle) by its position."""

import re
from collections.abc import Mapping
from typing import Final

from viva.submissions.classes.csv_tables import Table
from viva.submissions.classes.people import same_id

Columns = Mapping[str, int]
"""The position of each known column: `id`, `name`, `first`, `last`, `email`, `login`, `section`, `group`, `role`,
`canvas`, `moodle`, `submitted`; in a course's own list also `of_canvas`, … for each of `PLATFORMS`."""

PLATFORMS: Final = ("canvas", "moodle", "gradescope", "brightspace")
"""Platforms whose identifiers a course's own list may hold, each in a column of the platform's name."""

_HEADERS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "sid", "student id", "student number", "student_id", "sis user id", "orgdefinedid", "id number",
           "identifier", "roster_identifier", "org defined id"),
    "name": ("name", "full name", "student", "student name", "full_name"),
    "first": ("first name", "first_name", "firstname", "given name", "given names"),
    "last": ("last name", "last_name", "lastname", "surname", "family name"),
    "email": ("email", "email address", "e-mail", "e-mail address", "mail", "email_address"),
    "login": ("login", "username", "sis login id", "login id", "github_username", "user name", "user", "account"),
    "section": ("section", "sections"),
    "group": ("group", "groups", "group_name", "group name", "team", "team name"),
    "role": ("role",),
    "submitted": ("submission_timestamp",),
    **{f"of_{platform}": (platform, f"{platform}_id") for platform in PLATFORMS},
}  # fmt: skip
KNOWN: Final = frozenset(spelling for spellings in _HEADERS.values() for spelling in spellings)
"""Headers that are known."""
_MOODLE: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id-nummer", "numéro d'identification", "número de id", "codice identificativo", "matrikelnummer"),
    "login": ("anmeldename", "nom d'utilisateur", "nombre de usuario", "username", "gebruikersnaam"),
    "group": ("gruppe", "groupe", "grupo", "gruppo", "groep", "группа", "группы", "小组", "グループ", "المجموعة"),
}  # fmt: skip
_PLAIN: Final = frozenset({"name", "first name", "last name", "login", "section", "role", "sid", "github_username"})
"""Headers that Moodle's worksheets never have."""
_MOODLE_COLUMNS: Final = 6
"""Identifier, name, status, grade, maximum, and whether it can be changed: a worksheet has no fewer."""
_PARTICIPANT: Final = re.compile(r"(?P<word>\D*?)\s*(?P<number>\d{1,20})")
_ADDRESS: Final = re.compile(r"[^\s@]+@[^\s@]+")


def columns_of(table: Table) -> Columns:
    """Return the known columns; empty if no header is known."""
    header = [same_id(cell) for cell in table.header]
    if _is_moodle(table, header):
        return _of_moodle(table, header)
    found = _named(header, _HEADERS)
    if "student" in header and "name" in found and "id" not in found and header[found["name"]] != "student":
        found["id"] = header.index("student")  # viva's own tables
    if "student" in header and "id" in header and {"section", "sis login id", "sis user id"} & set(header):
        found |= {"canvas": header.index("id")}
        if "sis user id" in header and all(_students_only(table, header.index("sis user id"))):
            found["id"] = header.index("sis user id")
    if "lastname,firstname" in header:
        found["name"] = header.index("lastname,firstname")
    return found


def participant(cell: str) -> str:
    """Return the number of Moodle's "Participant 1234"; empty where there is none."""
    match = _PARTICIPANT.fullmatch(cell)
    return match["number"] if match is not None else ""


def _students_only(table: Table, at: int) -> list[bool]:
    name = 0  # "    Points Possible" and rows about the visibility of grades name no student
    return [bool(row[at]) for row in table.rows if not is_no_student(row[name])]


def is_no_student(name: str) -> bool:
    """Return whether it is a row of Canvas about columns, or the test student that every course has."""
    return same_id(name) in ("", "points possible", "student, test", "test student")


def _named(header: list[str], names: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for role, spellings in names.items():
        at = next((header.index(each) for each in spellings if each in header), None)
        if at is not None:
            found[role] = at
    return found


def _is_moodle(table: Table, header: list[str]) -> bool:
    """Return whether the first column is "Participant 1234" in any language: one word, and distinct numbers.

    A list with a header of another platform is not Moodle's, whatever its identifiers look like.
    """
    if not table.rows or _PLAIN.intersection(header):
        return False
    if header[0] != "identifier" and len(header) < _MOODLE_COLUMNS:
        return False
    matches = [_PARTICIPANT.fullmatch(cell) for cell in table.column(0)]
    words = {match["word"] if match is not None else "" for match in matches}
    return len(words) == 1 and len(words.pop()) >= 3 and len({participant(c) for c in table.column(0)}) == len(matches)


def _of_moodle(table: Table, header: list[str]) -> dict[str, int]:
    """Find Moodle's columns: identifier and full name come first, and an address is recognised by its form."""
    rest = ["", "", *header[2:]]
    found = _named(rest, {role: _HEADERS[role] for role in ("email", "login", "group")})
    found |= {role: at for role, at in _named(rest, _MOODLE).items() if role not in found}
    if "id number" in rest:
        found["id"] = rest.index("id number")
    if "email" not in found:
        for at in range(2, len(header)):
            cells = [cell for cell in table.column(at) if cell]
            if cells and all(_ADDRESS.fullmatch(cell) for cell in cells):
                found["email"] = at
                break
    return found | {"moodle": 0} | ({} if _is_status(table, header[1]) else {"name": 1})


def _is_status(table: Table, heading: str) -> bool:
    """Return whether the second column is the status, which repeats values: a blind assignment has no names."""
    if heading in ("full name", "status"):
        return heading == "status"
    values = [same_id(cell) for cell in table.column(1)]
    return len(values) > 3 and 2 * len(set(values)) <= len(values)
