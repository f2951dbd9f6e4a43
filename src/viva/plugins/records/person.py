"""Find one person in the records, with everything that they submitted."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from viva.formats import escaping
from viva.model import Attempt, Student
from viva.model.errors import UsageError
from viva.plugins.records.tables import AttemptRow

_MIN_NAME_LETTERS: Final = 3
"""The fewest letters of a part of a name that is searched as a separate word; shorter parts are ordinary words."""


@dataclass(frozen=True, slots=True)
class PersonAttempt:
    """An attempt of the person."""

    id: int
    assignment: str
    attempt: Attempt
    content_hash: str
    at: str


@dataclass(frozen=True, slots=True)
class Person:
    """One person, with what they submitted."""

    id: str
    """Empty for a submission without a known submitter."""
    attempts: tuple[PersonAttempt, ...]

    @property
    def students(self) -> list[Student]:
        """Return the person as each class list describes them."""
        named = [s for each in self.attempts for s in each.attempt.students if s.id == self.id]
        return [student for number, student in enumerate(named) if student not in named[:number]]

    @property
    def alone(self) -> list[PersonAttempt]:
        """Return the attempts that no one else submitted."""
        return [each for each in self.attempts if not self.others(each.attempt)]

    @property
    def shared(self) -> list[PersonAttempt]:
        """Return the attempts that others submitted too."""
        return [each for each in self.attempts if self.others(each.attempt)]

    def others(self, attempt: Attempt) -> tuple[Student, ...]:
        """Return the other students who submitted an attempt."""
        return tuple(student for student in attempt.students if student.id != self.id)


def find_person(session: Session, name: str) -> Person:
    """Find a person by id or email, else by name, else by the name of a submission; in any case of letters.

    Raises:
        UsageError: no one has this name, or several people have it.
    """
    rows = session.scalars(select(AttemptRow).order_by(AttemptRow.id))
    read = [PersonAttempt(row.id, row.assignment, row.attempt, row.content_hash, row.at) for row in rows]
    students = [student for each in read for student in each.attempt.students]
    ids = {s.id for s in students if _is_same(name, s.id) or _is_same(name, s.email)}
    if not ids:
        ids = {s.id for s in students if _is_same(name, s.name)}
    named = [each for each in read if each.attempt.name == name]
    if not ids:
        ids = {student.id for each in named for student in each.attempt.students}
    if len(ids) > 1:
        listed = ", ".join(escaping.line(id_, characters=60) for id_ in sorted(ids))
        raise UsageError(f"{name!r} may mean {len(ids)} people; give an id of: {listed}.")
    if not ids:
        attempts = [each for each in named if not each.attempt.students]
    else:
        attempts = [each for each in read if any(student.id in ids for student in each.attempt.students)]
    if not attempts:
        raise UsageError(
            f"The records hold nothing of {name!r}; give an id, an email, a name, or that of a submission."
        )
    return Person(next(iter(ids), ""), tuple(attempts))


def _is_same(one: str, two: str) -> bool:
    return bool(two) and one.casefold() == two.casefold()


def names_pattern(students: Iterable[Student], *, parts: bool = True) -> re.Pattern[str]:
    """Return a pattern that finds students in text, in any case: their ids, addresses and names.

    A nickname, or a name without its accents, is not found.

    Args:
        students: the students.
        parts: find parts of names and numbers, too.
    """
    words: set[str] = set()
    for student in students:
        first, _, last = student.name.rpartition(" ")
        words |= {student.id, student.email, student.name, *student.also.values()}
        if first:
            words.add(f"{last}, {first}")
        if ", " in student.name:
            last, _, first = student.name.partition(", ")
            words.add(f"{first} {last}")
        if parts:
            pieces = [*re.split(r"[\s,]+", student.name), student.email.partition("@")[0]]
            words |= {piece for piece in pieces if len(piece) >= _MIN_NAME_LETTERS}
        else:
            words = {word for word in words if not word.isdecimal()}
    spelled = {unicodedata.normalize(form, word) for word in words if len(word) > 1 for form in ("NFC", "NFD")}
    if not spelled:
        return re.compile(r"(?!)")  # matches nothing
    longest_first = sorted(spelled, key=len, reverse=True)
    return re.compile("|".join(map(_whole_word, longest_first)), re.IGNORECASE)


def _whole_word(word: str) -> str:
    """Return a pattern for a word that is no part of another one; scripts without case have no spaces around words."""
    before = r"(?<!\w)" if _has_word_borders(word[0]) else ""
    after = r"(?!\w)" if _has_word_borders(word[-1]) else ""
    return before + re.escape(word) + after


def _has_word_borders(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()
