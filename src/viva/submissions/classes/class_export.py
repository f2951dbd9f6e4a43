"""What reading a class gives, and what the reader of one kind of export gives before people are looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from viva.model.attempt import Attempt, Student


@dataclass(frozen=True, slots=True)
class Unmatched:
    """An entry of the export that belongs to no student, or to none who was found; never dropped."""

    name: str
    """Its name in the export, fit to be shown."""
    reason: str
    """A phrase that follows the name: "is a link"."""


@dataclass(frozen=True, slots=True)
class ClassExport:
    """A class: everything that was submitted, and everyone who submitted nothing."""

    source: str
    """The kind of export, as in `Attempt.source`."""
    attempts: tuple[Attempt, ...]
    """In the order of their names."""
    unmatched: tuple[Unmatched, ...] = ()
    """Entries that are not submissions, and submissions of people who are not in the roster."""
    missing: tuple[Student, ...] = ()
    """Students of the roster who submitted nothing; empty without a roster."""
    roster: tuple[Student, ...] = ()
    """All students in the roster, in its order."""
    notes: tuple[str, ...] = ()
    """What a person should know: who was matched by name alone."""


@dataclass(frozen=True, slots=True)
class Person:
    """One person as the source names them."""

    id: str
    """Distinguishes people in this export."""
    name: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Identifiers by kind: `canvas`, `moodle`, `gradescope`, `brightspace_user`, `id`, `login`, `email`."""
    maybe: tuple[str, ...] = ()
    """Texts that may be an identifier, a login or an address: parts of a folder's name."""


@dataclass(frozen=True, slots=True)
class Found:
    """One submission before its people are looked up in a roster."""

    label: str
    """Its name in the export, from which the submission's name is made."""
    path: Path
    people: tuple[Person, ...]
    submitted_at: datetime | None = None
    late: bool | None = None
    attempt: int | None = None
    """None where the source only gives the order."""
    order: str = ""
    """Sorts the attempts of one person where the source has no number for them."""
    group: str = ""
    """A name that may be a team's."""
    also: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """What the reader of one kind of export found."""

    found: list[Found] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
