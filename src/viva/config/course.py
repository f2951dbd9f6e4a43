"""A course as the rest of the engine sees it: checked, with paths that exist."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from viva.config import secret as secrets
from viva.config.assignment import EXCEPTIONS_YAML, SOURCES, TESTS, Assignment
from viva.config.load_assignment import load_assignment
from viva.config.read_config import suggest
from viva.model import Tier
from viva.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class Course:
    """A course: grader.yaml and the folder that it lies in."""

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
        """Return the assignment called `name`, read once.

        Raises:
            UsageError: the course has no such assignment.
            CourseError: its assignment.yaml is missing or wrong.
        """
        if name not in self._loaded:
            if name not in self.assignments:
                there = f"{self.root / 'grader.yaml'} lists no assignment `{name}`"
                raise UsageError(f"{there}{suggest(name, self.assignments)}")
            loaded = load_assignment(self.root, name)
            self._loaded[name] = loaded if loaded.min_tier is not None else replace(loaded, min_tier=self.min_tier)
        return self._loaded[name]

    def secret(self, environ: Mapping[str, str]) -> bytes:
        """Return the secret from which every random draw is derived.

        Raises:
            CourseError: it is missing or too short; the sentence says how to make one.
        """
        return secrets.resolve(self.secret_source, environ, self.root)

    def withheld(self) -> frozenset[tuple[int, int]]:
        """Return device and inode of what no student may read: graders, references, solutions, the secret."""
        folders = (self.root / "graders", self.root / "reference")
        files = [Path(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names]
        own = (EXCEPTIONS_YAML, *SOURCES, TESTS)
        files += [self.root / "assignments" / name / file for name in self.assignments for file in own]
        if self.secret_source.startswith("file:"):
            files.append(secrets.file_of(self.secret_source, self.root))
        found = set()
        for file in files:
            with contextlib.suppress(OSError):
                status = file.stat()
                found.add((status.st_dev, status.st_ino))
        return frozenset(found)

    def secret_or_public(self, environ: Mapping[str, str]) -> bytes:
        """Return the secret, or where there is none (a student's own machine) a value that everyone knows."""
        return secrets.resolve_or_public(self.secret_source, environ, self.root, self.title)
