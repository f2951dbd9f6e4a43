"""What a reader of one kind of export is, and what it finds before people are looked up in a roster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from viva.plugins.cohorts.exports.export_folder import FolderEntry, Gatherer
from viva.submissions.class_export import Unmatched


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


class ExportFormat(Protocol):
    """A reader of one kind of export."""

    name: str
    """As in `Attempt.source`."""

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Return whether a folder with these entries is such an export."""

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read everything in it."""
