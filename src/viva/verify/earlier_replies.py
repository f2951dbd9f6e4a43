"""Grade example submissions by what their programs replied in the last verification.

A test that asks what it asked then is decided from the replies; the programs run for the others. So after an author has
changed one test of an assignment, its programs are asked that test alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from viva.model import Score, Status
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import GradedJobs, Job
from viva.pipeline.local_pool import LocalPool
from viva.replay.call_log import CallLog


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of one example submission."""

    score: Score
    call_log: bytes
    """Its exchanges with boxes; empty if they were too large."""


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
        replays = [replace(asked[at], replayed=_of(known)) for at, known in usable.items()]
        for job, graded in self.replaying.run(replays) if replays else ():
            at = _key(job)
            if not isinstance(graded, Graded) or not graded.finished:
                continue
            if set(graded.changed) - _deferred(graded.score):
                partly[at] = graded
            elif not graded.score.has_grader_error:
                self.replayed.add(at)
                yield asked[at], replace(graded, call_log=usable[at].call_log)
        left = [_for_changed(job, partly.get(at)) for at, job in asked.items() if at not in self.replayed]
        for job, result in self.pool.run(left) if left else ():
            at = _key(job)
            if at in partly and isinstance(result, Graded) and result.finished and result.call_log:
                yield asked[at], _joined(partly[at], result, usable[at].call_log)
            else:
                yield asked[at], result

    def _usable(self, job: Job) -> Verified | None:
        """Return what the program of a job replied; None if it has to run.

        It has to if it ran into a time limit: the author may have raised the limit of the test. One that is known to
        run into it, and has a shorter limit in its options, would do so again.
        """
        known = self.earlier.get(job.assignment.name, {}).get(job.name)
        options = job.options or GradeOptions()
        if known is None or not known.call_log or job.submission is None or options.until_loss:
            return None
        slow = any(entry.status is Status.TIMEOUT for entry in known.score.entries) and options.call_s is None
        return None if slow or known.score.content_hash != job.submission.content_hash else known


def _deferred(score: Score) -> set[str]:
    """Return the tests that would not run either, such as those for a GPU."""
    return {entry.test_id for entry in score.entries if entry.status is Status.DEFERRED}


def _key(job: Job) -> tuple[str, str]:
    return job.assignment.name, job.name


def _of(known: Verified) -> Callable[[], bytes]:
    return lambda: known.call_log


def _for_changed(job: Job, replayed: Graded | None) -> Job:
    """Return the job for the tests that earlier replies do not answer; the whole job if they answer nothing."""
    if replayed is None:
        return job
    return replace(job, options=replace(job.options or GradeOptions(), only=tuple(replayed.changed)))


def _joined(replayed: Graded, rerun: Graded, call_log: bytes) -> Graded:
    """Return what was replayed, with the tests that have run again and what their programs replied."""
    new = {entry.test_id: entry for entry in rerun.score.entries if entry.test_id in replayed.changed}
    entries = tuple(new.get(entry.test_id, entry) for entry in replayed.score.entries)
    replies = CallLog.from_bytes(call_log)
    return replace(
        rerun,
        score=replace(replayed.score, entries=entries),
        unreached=[statement for statement in replayed.unreached if statement in rerun.unreached],
        call_log=replies.updated(CallLog.from_bytes(rerun.call_log), replayed.changed).to_bytes(),
    )
