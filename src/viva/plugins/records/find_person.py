"""Find one person in the records by a name, with everything that they submitted."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from viva.formats import escaping
from viva.model import Attempt, Student
from viva.model.errors import UsageError
from viva.plugins.records.database_tables import attempts
from viva.plugins.records.row_packing import attempt_from

_SAME: Final = ("canvas", "login")
"""Identifiers on a platform that stay the same for all of a course; Moodle's numbers differ in each assignment."""


@dataclass(frozen=True, slots=True)
class PersonAttempt:
    """An attempt of the person."""

    id: int
    assignment: str
    attempt: Attempt
    content_hash: str
    at: str
    others: tuple[Student, ...]
    """The other students who submitted it."""


@dataclass(frozen=True, slots=True)
class Person:
    """One person, with every identifier under which they submitted."""

    name: str
    """The name that was searched."""
    students: tuple[Student, ...]
    """The person as each source describes them; none for a submission without a known submitter."""
    attempts: tuple[PersonAttempt, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the identifiers, sorted."""
        return tuple(sorted({student.id for student in self.students}))

    @property
    def alone(self) -> tuple[PersonAttempt, ...]:
        """Return the attempts that no one else submitted."""
        return tuple(each for each in self.attempts if not each.others)

    @property
    def shared(self) -> tuple[PersonAttempt, ...]:
        """Return the attempts that others submitted too."""
        return tuple(each for each in self.attempts if each.others)


def find_person(connection: Connection, name: str) -> Person:
    """Find a person by id or email, else by name, else by the name of a submission.

    Rows with the same email, login or number in Canvas belong to one person.

    Raises:
        UsageError: no one has this name, or several people have it.
    """
    rows = connection.execute(select(*(c for c in attempts.c if c.name != "digest")).order_by(attempts.c.id)).all()
    read = [(row, attempt_from(row)) for row in rows]
    people = list(dict.fromkeys(map(_key, (s for _, d in read for s in d.students))))
    ids = _ids(name, people)
    if not ids:
        ids = _of_attempt(name, [attempt for _, attempt in read])
    theirs = tuple(
        PersonAttempt(
            row.id,
            row.assignment,
            attempt,
            row.content_hash,
            row.at,
            tuple(student for student in attempt.students if student.id not in ids),
        )
        for row, attempt in read
        if any(s.id in ids for s in attempt.students) or (not attempt.students and not ids and attempt.name == name)
    )
    if not theirs:
        raise UsageError(
            f"The records hold nothing of {name!r}; give an id, an email, a name, or that of a submission."
        )
    students = [s for each in theirs for s in each.attempt.students if s.id in ids]
    return Person(name, tuple({_key(student): student for student in students}.values()), theirs)


_Key = tuple[str, str, str, str, tuple[tuple[str, str], ...]]


def _key(student: Student) -> _Key:
    return student.id, student.name, student.email, student.section, tuple(sorted(student.also.items()))


def _ids(name: str, people: list[_Key]) -> set[str]:
    exact = {id_ for id_, _, email, _, _ in people if _same(name, id_) or _same(name, email)}
    if exact:
        return _with_other_ids(exact, people)
    named = {id_ for id_, called, _, _, _ in people if _same(name, called)}
    if named and not named <= (same := _with_other_ids({min(named)}, people)):
        raise UsageError(f"{len(named)} people are called {name!r}; give an id of: {_listed(named | same)}.")
    return _with_other_ids(named, people)


def _with_other_ids(ids: set[str], people: list[_Key]) -> set[str]:
    """Return every identifier of the people who have one of these."""
    found, before = set(ids), set[str]()
    while found != before:
        before = set(found)
        known = {key for person in people if person[0] in found for key in _identifiers(person)}
        found |= {person[0] for person in people if known & set(_identifiers(person))}
    return found


def _identifiers(person: _Key) -> list[tuple[str, str]]:
    _, _, email, _, also = person
    identifiers = [("email", email), *((kind, text) for kind, text in also if kind in _SAME)]
    return [(kind, _folded(text)) for kind, text in identifiers if text]


def _of_attempt(name: str, stored: Iterable[Attempt]) -> set[str]:
    found = [attempt for attempt in stored if attempt.name == name]
    ids = {student.id for attempt in found for student in attempt.students}
    if len(ids) > 1:
        raise UsageError(f"{len(ids)} people submitted {name!r}; give an id of: {_listed(ids)}.")
    return ids


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(escaping.line(id_, characters=60) for id_ in sorted(ids))


def _same(one: str, two: str) -> bool:
    return bool(two) and _folded(one) == _folded(two)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
