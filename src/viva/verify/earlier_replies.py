"""Grade example submissions by what their programs replied in the last verification.

A test that asks what it asked then is decided from the replies; the programs run for the others. So after an author has
changed one test of an assignment, its programs are asked that test alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from viva.model import Score, Status
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import GradedJobs, Job
from viva.pipeline.local_pool import LocalPool
from viva.replay.call_log import CallLog
from viva.replay.call_log.call_log import join, split


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of one example submission, and its call log in parts, which many submissions share."""

    score: Score
    head: bytes = b""
    """The call log without its cases; empty if it was too large."""
    cases: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, score: Score, call_log: bytes, shared: dict[bytes, bytes]) -> Self:
        """Return the result with a call log, which may be empty.

        Args:
            score: the score.
            call_log: as `CallLog.to_bytes` gives it.
            shared: the cases of other results, which are held once; added to here.
        """
        if not call_log:
            return cls(score)
        head, cases = split(call_log)
        return cls(score, head, {case: shared.setdefault(kept, kept) for case, kept in cases.items()})

    def call_log(self) -> bytes:
        """Return the exchanges with boxes; empty if they were too large."""
        return join(self.head, self.cases) if self.head else b""


Earlier = Mapping[str, Mapping[str, Verified]]
"""By assignment and submission: results of programs that would reply the same now."""


@dataclass(slots=True)
class EarlierReplies:
    """Grades jobs with earlier replies where they answer, and runs the programs where they do not."""

    earlier: Earlier
    replaying: LocalPool
    """Runs no program."""
    pool: LocalPool
    replayed: set[tuple[str, str]] = field(default_factory=set)
    """Assignment and name of each job that was graded without running its program."""

    def run(self, jobs: Sequence[Job]) -> GradedJobs:
        """Grade the jobs, in any order.

        Yields:
            As `LocalPool.run`.
        """
        asked = {_key(job): job for job in jobs}
        usable = {_key(job): known for job in jobs if (known := self._usable(job)) is not None}
        partly: dict[tuple[str, str], Graded] = {}
        replays = [replace(asked[at], replayed=known.call_log) for at, known in usable.items()]
        for job, graded in self.replaying.run(replays) if replays else ():
            at = _key(job)
            if not isinstance(graded, Graded) or not graded.finished:
                continue
            new = _unanswered(graded)
            if not new and not graded.score.has_grader_error:
                self.replayed.add(at)
                yield asked[at], replace(graded, call_log=usable[at].call_log())
            elif 0 < len(new) < len(graded.score.entries) and not _options(job).until_loss:
                partly[at] = graded
        left = [_for_changed(job, partly.get(at)) for at, job in asked.items() if at not in self.replayed]
        for job, result in self.pool.run(left) if left else ():
            at = _key(job)
            if at in partly and isinstance(result, Graded) and result.finished and result.call_log:
                yield asked[at], _joined(partly[at], result, usable[at].call_log())
            else:
                yield asked[at], result

    def _usable(self, job: Job) -> Verified | None:
        """Return what the program of a job replied; None if it has to run.

        It has to if it ran into a time limit: the author may have raised the limit of the test. One that is known to
        run into it, and has a shorter limit in its options, would do so again.
        """
        known = self.earlier.get(job.assignment.name, {}).get(job.name)
        if known is None or not known.head or known.score.has_grader_error or job.submission is None:
            return None
        slow = any(entry.status is Status.TIMEOUT for entry in known.score.entries) and _options(job).call_s is None
        return None if slow or known.score.content_hash != job.submission.content_hash else known


def _unanswered(replayed: Graded) -> set[str]:
    """Return the tests that earlier replies do not answer, without those that would not run either."""
    run = {entry.test_id for entry in replayed.score.entries if entry.status is not Status.DEFERRED}
    return run & set(replayed.changed)


def _options(job: Job) -> GradeOptions:
    return job.options or GradeOptions()


def _key(job: Job) -> tuple[str, str]:
    return job.assignment.name, job.name


def _for_changed(job: Job, replayed: Graded | None) -> Job:
    """Return the job for the tests that earlier replies do not answer; the whole job if they answer nothing."""
    if replayed is None:
        return job
    return replace(job, options=replace(_options(job), only=tuple(replayed.changed)))


def _joined(replayed: Graded, rerun: Graded, call_log: bytes) -> Graded:
    """Return what was replayed, with the tests that have run again and what their programs replied."""
    new = {entry.test_id: entry for entry in rerun.score.entries if entry.test_id in replayed.changed}
    entries = tuple(new.get(entry.test_id, entry) for entry in replayed.score.entries)
    replies = CallLog.from_bytes(call_log)
    return replace(
        rerun,
        score=replace(replayed.score, entries=entries),
        call_log=replies.updated(CallLog.from_bytes(rerun.call_log), replayed.changed).to_bytes(),
    )
