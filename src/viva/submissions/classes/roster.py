"""Read a class list as any platform exports it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viva.model.attempt import Student
from viva.model.errors import UsageError
from viva.submissions.classes.csv_tables import Table, read_table
from viva.submissions.classes.people import clean, forms, in_order, same_id
from viva.submissions.classes.roster_columns import KNOWN, PLATFORMS, Columns, columns_of, is_no_student, participant

_STUDENTS: Final = ("", "student", "learner", "etudiant", "étudiant", "student/in")


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
    table = read_table(path, KNOWN)
    columns = columns_of(table)
    if not columns.keys() & {"id", "name", "first", "last", "email", "login", "moodle", "canvas"}:
        raise UsageError(
            f"{path}: none of its columns is known ({', '.join(table.header)[:200]}); "
            "expected is a header with at least one of: id, name, email, login."
        )
    return _Reader(table, columns).read()


@dataclass(slots=True)
class _Reader:
    table: Table
    columns: Columns
    students: dict[str, Student] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    groups: dict[str, list[Student]] = field(default_factory=dict)
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    submitted: dict[str, str] = field(default_factory=dict)

    def read(self) -> Roster:
        complete = "id" in self.columns and all(self._cell(row, "id") for row in self.table.rows if self._counts(row))
        for row, line in zip(self.table.rows, self.table.lines, strict=True):
            if self._counts(row):
                self._take(row, line, self._id(row, complete=complete))
        groups = {name: tuple(members) for name, members in self.groups.items()}
        return Roster(tuple(self.students.values()), groups, self.names, self.submitted)

    def _take(self, row: Sequence[str], line: int, id_: str) -> None:
        name, last = self._name(row)
        student = Student(id_, name, self._cell(row, "email"), self._cell(row, "section"), self._also(row))
        known = self.students.get(same_id(id_))
        if known is None:
            self.students[same_id(id_)], self.lines[same_id(id_)] = student, line
            self.names[id_] = forms(name, last=last)
            if submitted := self._cell(row, "submitted"):
                self.submitted[id_] = submitted
        elif forms(known.name) != forms(name) or (known.email and student.email and known.email != student.email):
            raise UsageError(
                f"{self.table.path}, line {line}: {id_} is the identifier of another person in line "
                f"{self.lines[same_id(id_)]} already; give each student one of their own."
            )
        else:
            student = known
        for group in self._cell(row, "group").split(","):
            if group.strip() and student not in self.groups.setdefault(group.strip(), []):
                self.groups[group.strip()].append(student)

    def _counts(self, row: Sequence[str]) -> bool:
        """Return whether the row is about a student."""
        if "canvas" in self.columns and is_no_student(self._cell(row, "name")):
            return False
        if same_id(self._cell(row, "role")) not in _STUDENTS:
            return False
        described_by = [role for role in self.columns if role not in ("section", "group", "role", "submitted")]
        return any(self._cell(row, role) for role in described_by)

    def _id(self, row: Sequence[str], *, complete: bool) -> str:
        """Return the course's own identifier; where not every row has one, another that each row has.

        Numbers of two kinds are not mixed: one student's number could be another student's of the other kind.
        """
        own = self._cell(row, "id")
        if complete:
            return own
        if self._platform(row):
            return self._platform(row)
        found = next((t for t in (own, self._cell(row, "email"), self._cell(row, "login")) if t), "")
        return found or self._unused(self._name(row)[0])

    def _platform(self, row: Sequence[str]) -> str:
        return self._cell(row, "canvas") or (participant(self._cell(row, "moodle")) if "moodle" in self.columns else "")

    def _unused(self, name: str) -> str:
        """Return an unused identifier made from a name, so that two people with the same name stay two."""
        id_, number = name, 2
        while same_id(id_) in self.students:
            id_, number = f"{name} ({number})", number + 1
        return id_

    def _name(self, row: Sequence[str]) -> tuple[str, str]:
        """Return the name as it is read, and the family name where the list says which it is."""
        first, last, whole = (self._cell(row, role) for role in ("first", "last", "name"))
        if first or last:
            return clean(f"{first} {last}"), last
        family, comma, _ = whole.partition(", ")
        return in_order(whole), family if comma and in_order(whole) != whole else ""

    def _also(self, row: Sequence[str]) -> dict[str, str]:
        header = [same_id(cell) for cell in self.table.header]
        own = {platform: self._cell(row, f"of_{platform}") for platform in PLATFORMS}
        found = {
            "canvas": self._cell(row, "canvas"),
            "moodle": participant(self._cell(row, "moodle") or self._cell(row, "of_moodle")),
            "login": self._cell(row, "login"),
            "gradescope": (self._cell(row, "id") or self._cell(row, "email")) if "sid" in header else "",
            "brightspace": self._cell(row, "id") if "orgdefinedid" in header else "",
        }
        return {key: text for identifiers in (own, found) for key, text in identifiers.items() if text}

    def _cell(self, row: Sequence[str], role: str) -> str:
        """Return one cell; Brightspace puts `#` before identifiers, so that no spreadsheet takes them for numbers."""
        at = self.columns.get(role)
        return clean(row[at]).removeprefix("#") if at is not None else ""
