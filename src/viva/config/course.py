"""A course and its assignments as the rest of the engine sees them: checked, with paths that exist."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.config import secret as secrets
from viva.model import Limits, Tier
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.config.policy import Exceptions, Policy
    from viva.config.rubric import Rubric

EXCEPTIONS_YAML: Final = "exceptions.yaml"
"""Beside assignment.yaml: who is ill, and who has copied. It leaves this machine with nothing that is released."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a student hands in: patterns of file names; None where the assignment wants no such file."""

    notebook: str | None = "*.ipynb"
    module: str | None = "solution.py"


@dataclass(frozen=True, slots=True)
class Gradescope:
    """How the assignment is graded on Gradescope."""

    timeout: float
    """Seconds after which Gradescope ends the autograder, as set on its page; we end earlier."""
    attempts: int | None
    """How many submissions of a student are graded in `per`; None for all."""
    per: float
    """Seconds."""
    hidden: str
    """The visibility that hidden tests get there."""
    training: bool
    """Whether tests that train are run there; otherwise they stay open."""
    files: tuple[str, ...]
    """Further files of the course that the graders read, by their paths in it."""


@dataclass(frozen=True, slots=True)
class Release:
    """What a released folder holds of the visible tests, and what an autograder does."""

    withhold: tuple[str, ...]
    """Tests, by number, function or id, that stay with the graders though their messages are shown."""
    answers: bool
    """Whether tests are released that look answers up in the key (`key.answers[…]`), and these answers with them."""
    gradescope: Gradescope


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment of a course."""

    name: str
    """The name of its folders: letters, digits, `_`, `-`, `.`."""
    folder: Path
    """assignments/<name>: assignment.yaml, handout, starter, rubric."""
    title: str
    version: int
    """In every score's signature; a new version draws other random inputs."""
    submission: Handed
    load: str
    """"run", or "definitions" for notebooks that would download and train for hours."""
    kernel: str | None
    """The kernel that runs notebooks: "python", or the name of another kernel spec; None for viva's own runner."""
    device: str
    """"as_written", or "cpu" where code that names cuda or mps is to run on the CPU of the box."""
    points: Fraction | None
    """What the tests must add up to; None where assignment.yaml does not say."""
    preload: tuple[str, ...]
    """Modules imported once, before any submission."""
    limits: Limits
    data: tuple[Path, ...]
    """Files that the submission may read: existing regular files."""
    data_names: tuple[str, ...]
    """The same files by the relative path that the student's code opens: `data/corpus.txt`."""
    forbid: tuple[str, ...]
    """Modules and names that a submission may not import."""
    due: datetime | None
    """With a time zone."""
    min_tier: Tier | None
    python: Path | None
    """The interpreter of the box; None for viva's own."""
    graders: Path
    """graders/<name>: test_*.py, key.py, inside.py or inside/; may not exist yet."""
    starter: Path
    """assignments/<name>/starter; may not exist."""
    release: "Release"
    """What students get of the tests."""
    suite: str | None = None
    """"unittest", "nbgrader" or "otter" where graders/<name> holds an existing suite of that tool.

    Such a suite runs beside the submission, in its box.
    """
    declared: "Policy | None" = None
    """What `policy:` says; `policy()` for what holds."""

    def policy(self) -> "Policy":
        """How points become marks: as declared, or with nothing taken off."""
        from viva.config.policy import Policy

        return self.declared or Policy(due=self.due, maximum=self.points)

    def exceptions(self) -> "Exceptions":
        """Extensions, excuses and points that persons have decided on.

        Raises:
            CourseError: exceptions.yaml is wrong.
        """
        from viva.config.policy_file import read_exceptions

        return read_exceptions(self.folder / EXCEPTIONS_YAML)

    def rubric(self) -> "Rubric":
        """How prose is marked.

        Raises:
            CourseError: rubric.yaml is wrong.
        """
        from viva.config.rubric_file import load_rubric

        return load_rubric(self.folder / "rubric.yaml")


@dataclass(frozen=True, slots=True)
class Course:
    """A course: grader.yaml and what lies beside it."""

    root: Path
    """The folder of grader.yaml, absolute."""
    title: str
    assignments: tuple[str, ...]
    """Names, in the order of grader.yaml."""
    min_tier: Tier | None
    """The weakest isolation that grading accepts; None where grader.yaml does not say."""
    records: str | None
    workers: int
    """Submissions graded at once; 0 for one per core."""
    secret_source: str
    """`env:NAME` or `file:PATH`; never the secret itself."""
    _loaded: dict[str, Assignment] = field(default_factory=dict, repr=False, compare=False)

    def assignment(self, name: str) -> Assignment:
        """The assignment called `name`, read once.

        Raises:
            UsageError: the course has no such assignment.
            CourseError: its assignment.yaml is missing or wrong.
        """
        if name not in self._loaded:
            if name not in self.assignments:
                from viva.config.read_config import suggest

                there = f"{self.root / 'grader.yaml'} lists no assignment `{name}`"
                raise UsageError(f"{there}{suggest(name, self.assignments)}")
            from viva.config.load_course import load_assignment

            self._loaded[name] = load_assignment(self.root, name)
        return self._loaded[name]

    def secret(self, environ: Mapping[str, str]) -> bytes:
        """The secret from which every random draw is derived.

        Raises:
            CourseError: it is missing or too short; the sentence says how to make one.
        """
        return secrets.resolve(self.secret_source, environ, self.root)

    def withheld(self) -> frozenset[tuple[int, int]]:
        """Device and inode of every file that no student may read: graders, references, exceptions and the secret."""
        folders = (self.root / "graders", self.root / "reference")
        files = [Path(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names]
        files += [self.root / "assignments" / name / EXCEPTIONS_YAML for name in self.assignments]
        if self.secret_source.startswith("file:"):
            files.append(secrets.file_of(self.secret_source, self.root))
        found = set()
        for file in files:
            with contextlib.suppress(OSError):
                status = file.stat()
                found.add((status.st_dev, status.st_ino))
        return frozenset(found)

    def secret_or_public(self, environ: Mapping[str, str]) -> bytes:
        """The secret, or where there is none (a student's own machine) a value that everybody knows."""
        return secrets.resolve_or_public(self.secret_source, environ, self.root, self.title)
