"""What grading needs of a store of scores; the records are one, and other plugins may bring their own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from viva.config import Course
from viva.model import Isolation, Score
from viva.model.grade_request import Graded, GradeOptions
from viva.model.hand_grading import CurrentDecision
from viva.model.reason import Reason
from viva.pipeline.jobs import Job


class DecidedScore(Protocol):
    """A score with what people decided, which keeps decisions about prose separate from what was graded."""

    @property
    def set_by_hand(self) -> Score:
        """The score with points that people set by hand; prose is as it was graded."""
        ...

    @property
    def marks(self) -> Mapping[str, CurrentDecision]:
        """The current decisions about its prose, by the rubric's question."""
        ...

    @property
    def score(self) -> Score:
        """The score with all decisions."""
        ...


class Restore(Protocol):
    """Takes in the score of a job that is not graded now."""

    def __call__(self, job: Job, decided: DecidedScore, *, changed: bool) -> None:
        """Take it in, with what people decided.

        Args:
            job: whose score it is.
            decided: the score with what people decided.
            changed: whether a regrade or a person has changed the score since it was graded.
        """
        ...


@dataclass(slots=True)
class Sorted:
    """What there is to do in a class."""

    to_grade: list[Job] = field(default_factory=list)
    unchanged: int = 0
    """How many were graded before, by the same tests and the same engine."""
    by_other_tests: Counter[str] = field(default_factory=Counter)
    """How many were graded before by other tests or another engine, by assignment; `viva regrade` compares."""
    by_other_secret: Counter[str] = field(default_factory=Counter)
    """How many were graded before with another secret, by assignment."""
    weaker: Counter[str] = field(default_factory=Counter)
    """How many of `to_grade` were graded before with a weaker isolation, by its level."""


class Decisions(Protocol):
    """Knows what people decided about scores."""

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> Sequence[DecidedScore]:
        """Keep scores, all or none, if this is a store; return them with what people decided."""
        ...


class ScoreStore(Decisions, Protocol):
    """Knows which submissions of a class have scores, and keeps those that are graded now."""

    @property
    def interceptor(self) -> str:
        """The interceptor whose output the store keeps with each score; empty for none."""
        ...

    def sort(self, jobs: Sequence[Job], restore: Restore) -> Sorted:
        """Find out what to grade, and restore what has a score."""
        ...

    def may_start(self, job: Job) -> bool:
        """Claim a job; False if another grader has it, or has kept a score since the jobs were sorted."""
        ...

    def give_back(self, job: Job) -> None:
        """End the claim of a job that was not graded."""
        ...

    def with_others(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """Return the names of the jobs that other graders have at the moment, each with its grader."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """Where a run keeps scores, or where it reads what people decided; at most one of the two."""

    scores: ScoreStore | None = None
    decisions: Decisions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """What a run asks a store for."""

    course: Course
    secret: bytes
    options: GradeOptions
    isolation: Isolation
    """What the run offers at the least."""
    has_gpu: bool
    url: str | None
    """Where scores are kept, if the command says so; None for what the course says."""
    output: Path | None
    """The folder of results, which may hold decisions of `viva review`."""
    reason: Reason
    """Who grades, and why."""
    again: bool
    """Grade everything, also what has a score, and keep both scores."""
