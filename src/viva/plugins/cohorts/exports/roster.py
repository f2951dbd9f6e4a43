"""Read a class list as any platform exports it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viva.model.attempt import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.names import clean_text, list_name_forms, normalize_id, reorder_name
from viva.plugins.cohorts.exports.roster_table import (
    KNOWN_HEADERS,
    PLATFORMS,
    Table,
    find_columns,
    is_no_student,
    read_participant,
    read_table,
)

_STUDENT_ROLES: Final = ("", "student", "learner", "etudiant", "étudiant", "student/in")
_IDENTIFYING: Final = frozenset({"id", "name", "first", "last", "email", "login", "moodle", "canvas"})
_DESCRIBING_NO_ONE: Final = ("section", "group", "role", "submitted")


@dataclass(frozen=True, slots=True)
class Roster:
    """The students of a class."""

    students: tuple[Student, ...]
    """In the order of the list, each once."""
    groups: Mapping[str, tuple[Student, ...]] = field(default_factory=dict)
    """The members of each team, by the team's name."""
    forms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By student id: every form by which the name is found."""
    submitted: Mapping[str, str] = field(default_factory=dict)
    """By student id: the time of the last submission, where the list has it."""


def read_roster(path: Path) -> Roster:
    """Read a class list from Canvas, Moodle, Gradescope, Classroom or Brightspace, or one with known column names.

    Raises:
        UsageError: it cannot be read, no column is known, or two rows have one identifier.
    """
    table = read_table(path, KNOWN_HEADERS)
    columns = find_columns(table)
    if not columns.keys() & _IDENTIFYING:
        raise UsageError(
            f"{path}: none of its columns is known ({', '.join(table.header)[:200]}); "
            "expected is a header with at least one of: id, name, email, login."
        )
    rows = [_read_row(table, columns, row, line) for row, line in zip(table.rows, table.lines, strict=True)]
    students = [row for row in rows if row.is_student]
    has_all_ids = all(row["id"] for row in students)
    found: dict[str, tuple[Student, int]] = {}
    groups: dict[str, list[Student]] = {}
    forms, submitted = {}, {}
    for row in students:
        name, last = row.read_name()
        id_ = row["id"] if has_all_ids else _choose_id(row, name, found)
        student = Student(id_, name, row["email"], row["section"], row.read_identifiers())
        if normalize_id(id_) in found:
            student = _check_same(student, found[normalize_id(id_)], f"{path}, line {row.line}")
        else:
            found[normalize_id(id_)] = student, row.line
            forms[id_] = list_name_forms(name, last=last)
            if row["submitted"]:
                submitted[id_] = row["submitted"]
        for group in filter(None, map(str.strip, row["group"].split(","))):
            members = groups.setdefault(group, [])
            if student not in members:
                members.append(student)
    teams = {name: tuple(members) for name, members in groups.items()}
    return Roster(tuple(student for student, _ in found.values()), teams, forms, submitted)


@dataclass(frozen=True, slots=True)
class _Row:
    """The known cells of a row, by the role of their column."""

    cells: Mapping[str, str]
    line: int
    header: Sequence[str]

    def __getitem__(self, role: str) -> str:
        return self.cells.get(role, "")

    @property
    def is_student(self) -> bool:
        if "canvas" in self.cells and is_no_student(self["name"]):
            return False
        if normalize_id(self["role"]) not in _STUDENT_ROLES:
            return False
        return any(text for role, text in self.cells.items() if role not in _DESCRIBING_NO_ONE)

    def read_name(self) -> tuple[str, str]:
        """Return the name as it is read, and the family name where the list says which it is."""
        if self["first"] or self["last"]:
            return clean_text(f"{self['first']} {self['last']}"), self["last"]
        name = reorder_name(self["name"])
        family = self["name"].partition(", ")[0]
        return name, family if name != self["name"] else ""

    def read_identifiers(self) -> dict[str, str]:
        own = {platform: self[f"of_{platform}"] for platform in PLATFORMS}
        found = {
            "canvas": self["canvas"],
            "moodle": read_participant(self["moodle"] or self["of_moodle"]),
            "login": self["login"],
            "gradescope": (self["id"] or self["email"]) if "sid" in self.header else "",
            "brightspace": self["id"] if "orgdefinedid" in self.header else "",
        }
        return {kind: text for identifiers in (own, found) for kind, text in identifiers.items() if text}


def _read_row(table: Table, columns: Mapping[str, int], row: Sequence[str], line: int) -> _Row:
    """Read one row; Brightspace puts `#` before identifiers, so that no spreadsheet takes them for numbers."""
    cells = {role: clean_text(row[column]).removeprefix("#") for role, column in columns.items()}
    return _Row(cells, line, table.normalized_header)


def _choose_id(row: _Row, name: str, known: Mapping[str, object]) -> str:
    """Return an identifier for a list in which not every row has the course's own.

    Numbers of two kinds are not mixed: one student's number could be another student's of the other kind. A name gets
    a number where it is taken, so that two people with the same name stay two.
    """
    platform = row["canvas"] or read_participant(row["moodle"])
    chosen = platform or row["id"] or row["email"] or row["login"]
    if chosen:
        return chosen
    id_, number = name, 2
    while normalize_id(id_) in known:
        id_, number = f"{name} ({number})", number + 1
    return id_


def _check_same(student: Student, known: tuple[Student, int], where: str) -> Student:
    """Return the student whom the list has under the same identifier, if it is the same person."""
    other, line = known
    has_other_email = bool(other.email and student.email and other.email != student.email)
    if has_other_email or list_name_forms(other.name) != list_name_forms(student.name):
        raise UsageError(
            f"{where}: {student.id} is the identifier of another person in line {line} already; "
            "give each student one of their own."
        )
    return other
