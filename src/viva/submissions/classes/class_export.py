"""What reading a class gives, and what the reader of one kind of export gives before anybody is looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from viva.model.attempt import Attempt, Student


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Something of the export that belongs to nobody, or to nobody who was found; never dropped."""

    name: str
    """What the export calls it, fit to be shown."""
    reason: str
    """A phrase that follows the name: "is a link"."""


@dataclass(frozen=True, slots=True)
class ClassRead:
    """A class: everything that was handed in, and everybody who handed in nothing."""

    source: str
    """The kind of export, as in `Attempt.source`."""
    attempts: tuple[Attempt, ...]
    """In the order of their names."""
    unmatched: tuple[Unmatched, ...] = ()
    """Entries that are no submission, and submissions of people whom the roster does not know."""
    missing: tuple[Student, ...] = ()
    """Students of the roster who handed in nothing; nobody without a roster."""
    roster: tuple[Student, ...] = ()
    """Everybody in the roster, in its order."""
    notes: tuple[str, ...] = ()
    """What a person should know: who was joined by name alone."""


@dataclass(frozen=True, slots=True)
class Person:
    """One person as the source names them."""

    id: str
    """What tells them apart in this export."""
    name: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Identifiers by what they are: `canvas`, `moodle`, `gradescope`, `brightspace_user`, `id`, `login`, `email`."""
    maybe: tuple[str, ...] = ()
    """Texts that may be an identifier, a login or an address: parts of a folder's name."""


@dataclass(frozen=True, slots=True)
class Found:
    """One submission before its people are looked up in a roster."""

    label: str
    """How the export calls it; the submission's name is made of it."""
    path: Path
    people: tuple[Person, ...]
    submitted_at: datetime | None = None
    late: bool | None = None
    attempt: int | None = None
    """None where the source only tells the order."""
    order: str = ""
    """Sorts the attempts of one person where the source has no number for them."""
    group: str = ""
    """A name that may be that of a team."""
    also: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """What the reader of one kind found."""

    found: list[Found] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
