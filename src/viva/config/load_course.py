"""grader.yaml becomes a Course."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.config.course import Course
from viva.config.read_config import read_document
from viva.config.yaml_types import STRICT, FolderName, SecretSource, Text, TierName, UniqueTuple, Workers
from viva.model.errors import CourseError

GRADER_YAML: Final = "grader.yaml"
_IN_ENVIRONMENT: Final = "env:VIVA_SECRET"


@dataclass(frozen=True, slots=True)
class CourseFile:
    """grader.yaml: a course and its assignments."""

    __pydantic_config__ = STRICT

    course: Text
    """The title of the course."""
    assignments: UniqueTuple[FolderName]
    """The names of the assignments, which are the names of their folders."""
    secret: SecretSource = _IN_ENVIRONMENT
    """Where the secret comes from that draws every hidden input: env:NAME or file:PATH."""
    min_tier: TierName | None = None
    """The weakest isolation that grading accepts."""
    records: Text | None = None
    """Where scores are kept, such as sqlite:///records.db; null to keep none."""
    workers: Workers = 0
    """Submissions graded at once; auto is one for each core."""


def load_course(root: Path) -> Course:
    """Read grader.yaml; assignments are read when they are asked for.

    Raises:
        CourseError: grader.yaml is missing or wrong.
    """
    root = root.absolute()
    path = root / GRADER_YAML
    if not path.is_file():
        raise CourseError(f"{root} is not a course: it has no grader.yaml; `viva init DIR` makes a course.")
    written = read_document(path).read(CourseFile)
    return Course(
        root=root,
        title=written.course,
        assignments=written.assignments,
        min_tier=written.min_tier,
        records=written.records,
        workers=written.workers,
        secret_source=written.secret,
    )
