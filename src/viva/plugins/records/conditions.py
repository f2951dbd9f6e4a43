"""The conditions under which a score was made, and whether it is valid for a run that asks for others."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from enum import Enum, auto, unique
from pathlib import Path
from typing import Any, Final, Self

import viva
from viva.config import Assignment
from viva.config.assignment_content import content_of
from viva.model import Isolation, Score, Status
from viva.model.grade_request import GradeOptions
from viva.model.seeds import Seeds

_NO_PART_OF_THE_QUESTIONS: Final = ("folder", "title", "due", "graders", "starter", "release", "data", "min_tier")
"""Fields of an assignment that change no score, or whose content is hashed separately."""


@unique
class Standing(Enum):
    """The result of checking a stored score: whether it is valid for a run."""

    SAME = auto()
    """It may: the run would grade by the same tests with the same engine."""
    OTHER_TESTS = auto()
    """It may, but other tests or another engine made it: a regrade shows what that changes."""
    OTHER_SECRET = auto()
    """It may, but with other hidden inputs, since the course's secret was another one."""
    WEAKER = auto()
    """It may not: the student's program ran with a weaker isolation."""
    LESS = auto()
    """It may not: it leaves something open that the run can grade."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that determines a score, apart from the bytes that are graded."""

    tests: str
    """The result of `hash_tests`."""
    seed: str
    """Identifies the hidden inputs."""
    only: tuple[str, ...] | None
    visible_only: bool
    training: bool
    gpu: bool
    """Whether a GPU was offered: without one, tests that need it stay open."""
    isolation: Isolation
    """Its level and what was missing."""
    whole: bool = True
    """Whether the grading came to its end."""
    engine: str = viva.__version__

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote."""
        plain: dict[str, Any] = json.loads(text)
        only = None if plain["only"] is None else tuple(plain["only"])
        isolation = Isolation(plain["isolation"][0], missing=tuple(plain["isolation"][1]))
        return cls(**{**plain, "only": only, "isolation": isolation})

    def to_json(self) -> str:
        """Return the conditions as text: the same text for the same conditions."""
        plain = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        plain["isolation"] = [self.isolation.tier, self.isolation.missing]
        return json.dumps(plain, sort_keys=True)

    def identity(self, attempt_id: int) -> str:
        """Return a digest that two gradings of one attempt have in common if their scores must be equal."""
        return _digest([attempt_id, self.to_json()])


class RunConditions:
    """What a run grades with, from which the conditions of its scores follow."""

    def __init__(self, root: Path, secret: bytes, options: GradeOptions, *, gpu: bool) -> None:
        """Prepare.

        Args:
            root: the course's folder.
            secret: the course's secret.
            options: which tests run.
            gpu: whether a GPU is offered.
        """
        self._root, self._secret, self._options, self._gpu = root, secret, options, gpu
        self._hashes: dict[str, str] = {}

    def hash_tests(self, assignment: Assignment) -> str:
        """Return the result of `hash_tests`, which is computed once."""
        if assignment.name not in self._hashes:
            self._hashes[assignment.name] = hash_tests(assignment, self._root)
        return self._hashes[assignment.name]

    def create(
        self, assignment: Assignment, isolation: Isolation, *, options: GradeOptions | None = None, whole: bool = True
    ) -> Conditions:
        """Return the conditions of a score.

        Args:
            assignment: whose tests are asked.
            isolation: what its box reported, or what the run offers at the least.
            options: which tests run; None for those of the run.
            whole: whether its grading came to its end.
        """
        options = options or self._options
        return Conditions(
            tests=self.hash_tests(assignment),
            seed=Seeds(self._secret, assignment.name, assignment.version).id,
            only=options.only,
            visible_only=options.visible_only,
            training=options.training,
            gpu=self._gpu,
            isolation=Isolation(isolation.tier, missing=tuple(sorted(isolation.lacks))),
            whole=whole,
        )


def compare_conditions(score: Score, made: Conditions, wanted: Conditions) -> Standing:
    """Return whether a stored score counts for a run.

    Args:
        score: the stored score.
        made: the conditions under which it was made.
        wanted: the conditions of the run.
    """
    if not made.whole or score.has_grader_error:
        return Standing.LESS
    if not made.isolation.holds(wanted.isolation):
        return Standing.WEAKER
    if made.only != wanted.only or made.visible_only > wanted.visible_only or _can_grade_more(score, wanted):
        return Standing.LESS
    if made.seed != wanted.seed:
        return Standing.OTHER_SECRET
    if (made.tests, made.engine) != (wanted.tests, wanted.engine):
        return Standing.OTHER_TESTS
    return Standing.SAME


def _can_grade_more(score: Score, wanted: Conditions) -> bool:
    """Return whether the run offers all that a deferred test of the score needs."""
    offered = {"training"} if wanted.training else set()
    if wanted.gpu:
        offered.add("gpu")
    deferred = [set(entry.needs) for entry in score.entries if entry.status is Status.DEFERRED and entry.needs]
    return any(needs <= offered for needs in deferred)


def hash_tests(assignment: Assignment, root: Path) -> str:
    """Return a digest of all that decides about scores: tests, key, references, data, limits.

    Args:
        assignment: the assignment with the tests.
        root: the course's folder.
    """
    reference = [
        [path.relative_to(root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()]
        for path in sorted((root / "reference").rglob("*.py"))
    ]
    settings = {
        field.name: str(getattr(assignment, field.name))
        for field in dataclasses.fields(assignment)
        if field.name not in _NO_PART_OF_THE_QUESTIONS
    }
    return _digest([content_of(assignment), reference, settings])


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()
