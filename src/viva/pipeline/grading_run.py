"""One run over a class: grade what has no score yet, store the scores, write the results, and sum up the run."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Protocol

from viva.model import Score
from viva.model.errors import EXPECTED_ERRORS, UsageError
from viva.model.grade_request import Graded
from viva.model.outlines import Outlines
from viva.pipeline.jobs import GradedJob, Job, Pool, Postponed
from viva.pipeline.results_writer import ResultsWriter
from viva.pipeline.score_store import DecidedScore, Decisions, ScoreStore, Sorted

_LOOK_S: Final = 1.0
"""How often to look whether other graders are ready."""


class Display(Protocol):
    """Shows the progress of a run."""

    def advance(self, score: Score | None) -> None:
        """Count one more submission; None for one without a score."""
        ...

    def wait(self, count: int, grader: str) -> None:
        """Say that submissions are left that other graders have, and the name of one grader."""
        ...


@dataclass(slots=True)
class Summary:
    """The outcome of one run."""

    names: list[str]
    """All submissions, in their order."""
    outlines: Outlines | None = None
    """Makes scores small, where the run does not show what is in them; None to keep them whole."""
    scores: dict[str, Score] = field(default_factory=dict)
    """By submission; without messages if there are `outlines`."""
    errors: dict[str, Exception] = field(default_factory=dict)
    """Why submissions have no score, or why one of their files could not be written."""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """For staff: submissions, and a sentence about each."""
    cached: set[str] = field(default_factory=set)
    """Submissions whose score an earlier run has kept."""
    unchanged: int = 0
    """How many of them had been graded by the same tests and the same viva."""
    by_other_tests: Counter[str] = field(default_factory=Counter)
    """How many of them had been graded by other tests or another viva, by assignment."""
    by_other_secret: Counter[str] = field(default_factory=Counter)
    """How many of them had been graded with another secret, by assignment."""
    weaker: Counter[str] = field(default_factory=Counter)
    """How many submissions are graded again because their score was made with a weaker isolation, by its level."""

    def add(self, name: str, score: Score) -> None:
        """Add the score of a submission."""
        self.scores[name] = score if self.outlines is None else self.outlines.reduce(score)

    @property
    def points(self) -> dict[str, Fraction]:
        """Return the sum of the tests' points by assignment, for assignments with something graded."""
        return {score.assignment: score.points for score in self.scores.values()}

    @property
    def grader_errors(self) -> int:
        """Return how many tests are not graded because something went wrong on the grader's side."""
        return sum(entry.status.is_fault for score in self.scores.values() for entry in score.entries)

    @property
    def exit_status(self) -> int:
        """Return 0 if all were graded, 1 if a file could not be read or written, 2 after a fault of the grader."""
        if self.grader_errors or any(not isinstance(error, UsageError) for error in self.errors.values()):
            return 2
        return 1 if self.errors else 0


class GradingRun:
    """Grades the jobs of one command."""

    def __init__(
        self, jobs: Sequence[Job], writer: ResultsWriter, display: Display, *, keep_messages: bool = True
    ) -> None:
        """Prepare.

        Args:
            jobs: the submissions.
            writer: writes their results.
            display: shows the progress.
            keep_messages: whether the summary keeps what is in each score, or only points and statuses.
        """
        self._jobs, self._writer, self._display = [*jobs], writer, display
        self._decisions: Decisions | None = None
        self._store: ScoreStore | None = None
        self.summary = Summary([job.name for job in jobs], None if keep_messages else Outlines())

    def use_store(self, store: ScoreStore) -> None:
        """Use the scores of earlier runs, and keep those of this one.

        Args:
            store: knows which submissions have scores.

        Raises:
            VivaError: a result of an earlier run cannot be written.
        """
        self._store = store
        found = self._sort(self._jobs)
        self.summary.weaker = found.weaker
        self._jobs, self._decisions = found.to_grade, store

    def use_decisions(self, decisions: Decisions | None) -> None:
        """Let people's decisions take precedence over the scores of this run."""
        self._decisions = decisions

    def run(self, pool: Pool) -> Summary:
        """Grade what has not been graded yet; what other graders have is waited for.

        Raises:
            UsageError: the course has an error that affects every submission, or a score cannot be kept.
        """
        waiting = self._jobs
        while waiting:
            with closing(pool.in_batches(waiting)) as batches:  # an error leaves no thread in the middle of a file
                postponed = [job for batch in batches for job in self._end(batch)]
            waiting = self._after_others(postponed) if postponed else []
        try:
            self._writer.class_curves([*self.summary.scores.values()])
        except UsageError as error:
            self.summary.errors["the curves of the class"] = error
        return self.summary

    def _end(self, batch: Sequence[GradedJob]) -> list[Job]:
        """Take in what became of jobs; return those that were postponed."""
        self._keep([(job, graded) for job, graded in batch if isinstance(graded, Graded)])
        for job, graded in batch:
            if isinstance(graded, Exception) and not isinstance(graded, Postponed):
                if self._store is not None:
                    self._store.give_back(job)
                if isinstance(graded, UsageError):
                    raise graded
                self.summary.errors[job.name] = graded
                self._display.advance(None)
        return [job for job, graded in batch if isinstance(graded, Postponed)]

    def _keep(self, batch: Sequence[tuple[Job, Graded]]) -> None:
        """Keep scores first, so that the result files are the newer of the two from then on."""
        decided: Sequence[DecidedScore | None] = [None] * len(batch)
        try:
            if self._decisions is not None and batch:
                decided = self._decisions.keep(batch)
        except UsageError as error:
            if len(batch) > 1:  # what can be kept is kept
                for one in batch:
                    self._keep([one])
                return
            self._finish(*batch[0], None)  # the records are lost; the student's result is not
            raise UsageError(
                f"{error} Its result is written. Run the command again when the records can be written: "
                "it grades the rest."
            ) from error
        for (job, graded), with_decisions in zip(batch, decided, strict=True):
            self._finish(job, graded, with_decisions)
            self._display.advance(graded.score)

    def _after_others(self, jobs: list[Job]) -> list[Job]:
        """Wait until other graders have kept a score of one of the jobs, or have given one up; return those."""
        assert self._store is not None, "only claims postpone a job"
        told = False
        while True:
            taken = self._store.with_others(jobs)
            free = [job for job in jobs if job.name not in taken]
            if free:
                found = self._sort(free)
                return [*found.to_grade, *(job for job in jobs if job.name in taken)]
            if not told:
                self._display.wait(len(jobs), next(iter(taken.values())))
                told = True
            time.sleep(_LOOK_S)

    def _sort(self, jobs: Sequence[Job]) -> Sorted:
        assert self._store is not None, "there are scores of earlier runs"
        found = self._store.sort(jobs, self._restore)
        self.summary.unchanged += found.unchanged
        self.summary.by_other_tests.update(found.by_other_tests)
        self.summary.by_other_secret.update(found.by_other_secret)
        return found

    def _restore(self, job: Job, decided: DecidedScore, *, changed: bool) -> None:
        self.summary.add(job.name, decided.score)
        self.summary.cached.add(job.name)
        self._writer.restore(job, decided, changed=changed)
        self._display.advance(None)

    def _finish(self, job: Job, graded: Graded, decided: DecidedScore | None) -> None:
        self.summary.add(job.name, graded.score if decided is None else decided.score)
        self.summary.remarks += [(job.name, remark) for remark in graded.remarks]
        try:
            can_be_rewritten = self._store is not None and decided is not None
            self._writer.finish(job, graded, decided, durable=not can_be_rewritten)
        except EXPECTED_ERRORS as error:
            self.summary.errors[job.name] = error
