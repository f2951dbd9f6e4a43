"""A class as the core sees it, and the interface of the plugin that reads it from a platform's export."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from viva.model.attempt import Attempt, ScoredAttempt, Student


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


class CohortReader(Protocol):
    """Reads the exports of learning platforms."""

    def is_export(self, path: Path) -> bool:
        """Return whether a folder is an export of a platform; archives are not opened."""

    def read(self, path: Path, roster: Path | None, folder: Path) -> ClassExport:
        """Read a class from a folder or archive, with a class list if there is one.

        What is unpacked stays below `folder`: the same export leads to the same paths each time.

        Raises:
            UsageError: the path does not exist, is not a known export, or it or the roster cannot be read.
        """

    def match_students(
        self, attempts: Sequence[ScoredAttempt], roster: Path | None, export: Path | None = None
    ) -> tuple[list[ScoredAttempt], list[Student]]:
        """Return scores under the students' names in a class list or an export of the class, and everyone there.

        Raises:
            UsageError: one of them cannot be read, or the export holds a submission without a score.
        """
