"""What a class submitted: who, when, and where it is stored; and the score of each submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from viva.model.score import Score


@dataclass(frozen=True, slots=True)
class Student:
    """One person of a class list, as the list or the export names them."""

    id: str
    """The course's identifier of this person, unique in the class: the roster's, else one from the source."""
    name: str = ""
    """For people to read; may be empty, in any script, and the same as another student's."""
    email: str = ""
    section: str = ""
    also: Mapping[str, str] = field(default_factory=dict)
    """Identifiers of the same person elsewhere, used to return grades: `canvas`, `moodle`, `gradescope`, `login`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submission at one time."""

    name: str
    """Unique in the class, a relative path with forward slashes; its result is written below this name."""
    path: Path
    """The file, folder or archive that is opened."""
    students: tuple[Student, ...]
    """Several for a team; none where no submitter could be found."""
    submitted_at: datetime | None = None
    """With a time zone; None where the source does not say."""
    late: bool | None = None
    """What the source says; None where it does not. The late policy decides whether it counts as late."""
    number: int = 1
    """From 1, for each student or team."""
    team: str = ""
    source: str = "folder"
    """The kind of export: "canvas", "moodle", "gradescope", "github", "nbgrader", "brightspace", "folder"."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Its own identifiers in the source, such as Gradescope's `submission`."""

    def is_called(self, name: str) -> bool:
        """Return whether `name` may mean this attempt: its own name, or a student's id, name or email, in any case."""
        names = (self.name, *(text for s in self.students for text in (s.id, s.name, s.email)))
        return name.casefold() in {text.casefold() for text in names if text}


@dataclass(frozen=True, slots=True)
class ScoredAttempt:
    """An attempt and the score that it has now."""

    attempt: Attempt
    score: Score
