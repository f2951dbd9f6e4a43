"""Read the CSV file of a class list; find its columns by their headers or, in Moodle's, by their positions."""

import csv
import io
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.formats.csv_delimiter import find_delimiter
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.names import normalize_id
from viva.submissions.decode_text import decode
from viva.submissions.open_submission import no_such_path
from viva.submissions.opening_by_descriptor import NotOpened, read_at_most

MAX_BYTES: Final = 16 << 20
MAX_ROWS: Final = 100_000
MAX_COLUMNS: Final = 2000
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
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
KNOWN_HEADERS: Final = frozenset(spelling for spellings in _HEADERS.values() for spelling in spellings)
_IN_WORKSHEETS: Final[Mapping[str, tuple[str, ...]]] = {
    "email": _HEADERS["email"],
    "id": ("id number", "id-nummer", "numéro d'identification", "número de id", "codice identificativo",
           "matrikelnummer"),
    "login": (*_HEADERS["login"], "anmeldename", "nom d'utilisateur", "nombre de usuario", "gebruikersnaam"),
    "group": (*_HEADERS["group"], "gruppe", "groupe", "grupo", "gruppo", "groep", "группа", "группы", "小组",
              "グループ", "المجموعة"),
}  # fmt: skip
"""Headers of Moodle's grading worksheets that name a column, in the languages that are known here."""
_NOT_IN_WORKSHEETS: Final = frozenset(
    {"name", "first name", "last name", "login", "section", "role", "sid", "github_username"}
)
_MIN_WORKSHEET_COLUMNS: Final = 6
"""Identifier, name, status, grade, maximum, and whether it can be changed: a worksheet has no fewer."""
_PARTICIPANT: Final = re.compile(r"(?P<word>\D*?)\s*(?P<number>\d{1,20})")
_ADDRESS: Final = re.compile(r"[^\s@]+@[^\s@]+")


@dataclass(frozen=True, slots=True)
class Table:
    """The contents of the file, every cell without surrounding spaces."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Each as long as the header."""
    lines: tuple[int, ...]
    """The line in which each row ends, from 1."""

    @property
    def normalized_header(self) -> list[str]:
        """Return the header as it is compared."""
        return [normalize_id(cell) for cell in self.header]

    def column(self, index: int) -> list[str]:
        """Return every cell of one column."""
        return [row[index] for row in self.rows]


def read_table(path: Path, known: Container[str] = frozenset()) -> Table:
    """Read a CSV file with a header; commas, semicolons or tabs between the cells, any usual encoding.

    Args:
        path: the file.
        known: headers that are looked for, in lower case; they decide which delimiter is used.

    Raises:
        UsageError: it does not exist, is not text, or is larger than the list of a class can be.
    """
    data = _read_bytes(path)
    if data.startswith(_WORKBOOKS):
        raise UsageError(f"{path} is a workbook; save it as CSV, and give that file.")
    text = decode(data).lstrip("\ufeff")
    if text[:4].lower() == "sep=":  # tells a spreadsheet the delimiter
        text = text.partition("\n")[2]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=find_delimiter(text, known))
    rows, lines = list[list[str]](), list[int]()
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
                lines.append(reader.line_num)
            if len(rows) > MAX_ROWS:
                raise UsageError(f"{path} has more than {MAX_ROWS:,} rows; give the list of one class.")
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}; a CSV file is expected.") from None
    if not rows:
        raise UsageError(f"{path} is empty; a header and a row for each student are expected.")
    width = len(rows[0])
    if width > MAX_COLUMNS:
        raise UsageError(f"{path} has more than {MAX_COLUMNS:,} columns; give the list of one class.")
    padded = tuple(tuple([*row, *[""] * width][:width]) for row in rows[1:])
    return Table(tuple(rows[0]), padded, tuple(lines[1:]))


def _read_bytes(path: Path) -> bytes:
    if not path.exists():
        raise UsageError(no_such_path(path))
    if not path.is_file():
        raise UsageError(f"{path} is not a file; give a CSV file.")
    try:
        with path.open("rb") as file:
            data = read_at_most(file.fileno(), MAX_BYTES)
    except (OSError, NotOpened) as error:
        raise UsageError(f"{path} cannot be read ({error}).") from None
    if data is None:
        raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MiB; give the list of one class.")
    return data


def find_columns(table: Table) -> dict[str, int]:
    """Return the index of each known column, by its role; empty if no header is known.

    Roles are `id`, `name`, `first`, `last`, `email`, `login`, `section`, `group`, `role`, `canvas`, `moodle`,
    `submitted`; in a course's own list also `of_canvas`, … for each of `PLATFORMS`.
    """
    header = table.normalized_header
    if _is_worksheet(table, header):
        return _find_worksheet_columns(table, header)
    found = _find_named(header, _HEADERS)
    if "student" in header and "id" not in found and header[found["name"]] != "student":
        found["id"] = header.index("student")  # viva's own tables
    if "student" in header and "id" in header and {"section", "sis login id", "sis user id"} & set(header):
        found["canvas"] = header.index("id")
        sis = header.index("sis user id") if "sis user id" in header else None
        if sis is not None and all(row[sis] for row in table.rows if not is_no_student(row[0])):
            found["id"] = sis
    if "lastname,firstname" in header:
        found["name"] = header.index("lastname,firstname")
    return found


def read_participant(cell: str) -> str:
    """Return the number of Moodle's "Participant 1234"; empty for another text."""
    match = _PARTICIPANT.fullmatch(cell)
    return match["number"] if match is not None else ""


def is_no_student(name: str) -> bool:
    """Return whether it is a row of Canvas about columns, or the test student that every course has."""
    return normalize_id(name) in ("", "points possible", "student, test", "test student")


def _find_named(header: Sequence[str], names: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for role, spellings in names.items():
        spelling = next((each for each in spellings if each in header), None)
        if spelling is not None:
            found[role] = header.index(spelling)
    return found


def _is_worksheet(table: Table, header: Sequence[str]) -> bool:
    """Return whether the first column is "Participant 1234" in any language: one word, and distinct numbers.

    A list with a header of another platform is not Moodle's, whatever its identifiers look like.
    """
    if not table.rows or _NOT_IN_WORKSHEETS.intersection(header):
        return False
    if header[0] != "identifier" and len(header) < _MIN_WORKSHEET_COLUMNS:
        return False
    matches = [_PARTICIPANT.fullmatch(cell) for cell in table.column(0)]
    words = {match["word"] if match is not None else "" for match in matches}
    numbers = {match["number"] for match in matches if match is not None}
    return len(words) == 1 and len(words.pop()) >= 3 and len(numbers) == len(matches)


def _find_worksheet_columns(table: Table, header: Sequence[str]) -> dict[str, int]:
    """Find Moodle's columns: identifier and full name come first, and an address is recognized by its form."""
    found = _find_named(["", "", *header[2:]], _IN_WORKSHEETS)
    for index in range(2, len(header)):
        cells = list(filter(None, table.column(index)))
        if "email" not in found and cells and all(map(_ADDRESS.fullmatch, cells)):
            found["email"] = index
    found["moodle"] = 0
    if not _is_status(table, header[1]):
        found["name"] = 1
    return found


def _is_status(table: Table, heading: str) -> bool:
    """Return whether the second column is the status, which repeats values: a blind assignment has no names."""
    if heading in ("full name", "status"):
        return heading == "status"
    values = [normalize_id(cell) for cell in table.column(1)]
    return len(values) > 3 and 2 * len(set(values)) <= len(values)
