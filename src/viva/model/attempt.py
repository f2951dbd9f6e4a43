"""What a class handed in: who, when, and where it lies; and the score that each submission has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from viva.model.score import Score


@dataclass(frozen=True, slots=True)
class Student:
    """One person of a class list, as the list or the export names them."""

    id: str
    """How the course calls this person, unique in the class: the roster's identifier, else what the source offers."""
    name: str = ""
    """For people to read; may be empty, in any script, and twice in a class."""
    email: str = ""
    section: str = ""
    also: Mapping[str, str] = field(default_factory=dict)
    """Names of the same person elsewhere, by which marks are handed back: `canvas`, `moodle`, `gradescope`, `login`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that was handed in, once."""

    name: str
    """Unique in the class, a relative path with forward slashes; its result is written below this name."""
    path: Path
    """What is opened: a file, a folder or an archive."""
    students: tuple[Student, ...]
    """Several for a team; none where nobody could be found who handed it in."""
    submitted_at: datetime | None = None
    """With a time zone; None where the source does not say."""
    late: bool | None = None
    """What the source says; None where it does not. Whether it counts as late is the policy's business."""
    number: int = 1
    """From 1, for each student or team."""
    team: str = ""
    source: str = "folder"
    """The kind of export: "canvas", "moodle", "gradescope", "github", "nbgrader", "brightspace", "folder"."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Its own identifiers in the source, such as Gradescope's `submission`."""

    def is_called(self, name: str) -> bool:
        """Whether a person may mean this by `name`: its own, or a student's id, name or email, in any case."""
        names = (self.name, *(text for s in self.students for text in (s.id, s.name, s.email)))
        return name.casefold() in {text.casefold() for text in names if text}


@dataclass(frozen=True, slots=True)
class Marked:
    """A submission and the score that it has now."""

    attempt: Attempt
    score: Score
