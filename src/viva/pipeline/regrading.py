"""Grade a class again after tests, points or the key have changed.

Call logs give the answers; where they cannot, the students' programs run just the tests that changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from viva.config import Assignment, Course
from viva.model import Entry, Isolation, Score, Status
from viva.model.errors import UsageError, VivaError
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job, Pool
from viva.records import Records, StoredScore
from viva.replay.call_log import CallLog
from viva.submissions import open_submission

OTHER_BYTES: Final = "what is there now is not what was graded"


@dataclass(slots=True)
class Regraded:
    """What a regrade found."""

    found: list[tuple[StoredScore, Score, bytes]] = field(default_factory=list)
    """The score that counts, the new score, and its call log."""
    left: list[tuple[StoredScore, str]] = field(default_factory=list)
    """Submissions that could not be graded again, and why."""
    programs_run: int = 0
    """How many programs had to be run again."""


@dataclass(slots=True)
class _Case:
    """One submission in progress."""

    kept: StoredScore
    job: Job
    score: Score | None = None
    changed: list[str] = field(default_factory=list)


class Regrade:
    """Grades the submissions of one assignment again."""

    def __init__(
        self,
        course: Course,
        assignment: Assignment,
        records: Records,
        replaying: Pool,
        pool: Pool,
        options: GradeOptions,
        isolation: Isolation,
    ) -> None:
        """Prepare.

        Args:
            course: the assignment's course.
            assignment: the assignment whose tests run, as they are now.
            records: where scores and call logs are kept.
            replaying: grades from call logs, and runs no program.
            pool: runs the programs that have to be asked again.
            options: which tests they are asked.
            isolation: what the pool offers: nothing of a program that ran with less is used again.
        """
        self._course, self._assignment, self._records = course, assignment, records
        self._replaying, self._pool, self._options, self._isolation = replaying, pool, options, isolation

    def run(self, kept: Sequence[StoredScore], on_done: Callable[[], None] = lambda: None) -> Regraded:
        """Grade these submissions again.

        Args:
            kept: the scores that count now.
            on_done: called after each submission.

        Raises:
            UsageError: the course has an error.
        """
        result = Regraded()
        opened = (self._case(each, result) for each in kept)
        cases = {case.job.name: case for case in opened if case is not None}
        self._replay(cases)
        for case in cases.values():
            if case.score is not None and not case.changed:
                result.found.append((case.kept, case.score, b""))
                on_done()
        self._ask_again(cases, result, on_done)
        result.found = [(kept, _called_as(score, kept), call_log) for kept, score, call_log in result.found]
        return result

    def _case(self, kept: StoredScore, result: Regraded) -> _Case | None:
        """Return a submission if its bytes are still those that were graded; they are read again when it is graded."""
        attempt, graded = kept.scored.attempt, kept.scored.score
        try:
            submission = open_submission(attempt.path, graded.submission, withheld=self._course.withheld)
        except VivaError as error:
            result.left.append((kept, str(error).rstrip(".")))
            return None
        if submission.content_hash != graded.content_hash:
            result.left.append((kept, f"{attempt.path}: {OTHER_BYTES}"))
            return None
        job = Job(
            attempt.path,
            f"{attempt.name} ({kept.id})",  # attempts may share the first part
            self._assignment,
            may_hold_notebook=submission.may_hold_notebook,
            replayed=partial(self._records.call_log, kept.call_log_id),
        )
        return _Case(kept, job)

    def _replay(self, cases: dict[str, _Case]) -> None:
        """Grade from the call logs; what has none, or cannot be answered from it, remains to be run."""
        with_call_log = [
            case.job for case in cases.values() if case.kept.call_log_id is not None and self._may_use(case.kept)
        ]
        for job, graded in self._replaying.run(with_call_log) if self._assignment.suite is None else ():
            case = cases[job.name]
            if isinstance(graded, UsageError):
                raise graded
            if isinstance(graded, Graded) and graded.finished:
                case.score, case.changed = graded.score, graded.changed

    def _ask_again(self, cases: dict[str, _Case], result: Regraded, on_done: Callable[[], None]) -> None:
        jobs = []
        for case in cases.values():
            if case.score is None or case.changed:
                only = tuple(case.changed) if case.score is not None else None
                options = replace(self._options, only=only, call_log=True)
                jobs.append(replace(case.job, options=options, replayed=bytes))
        result.programs_run = len(jobs)
        for job, graded in self._pool.run(jobs):
            case = cases[job.name]
            if isinstance(graded, UsageError):
                raise graded
            if isinstance(graded, Exception):
                result.left.append((case.kept, str(graded)))
            elif graded.score.has_grader_error or not graded.finished:
                result.left.append((case.kept, "something went wrong on the grader's side"))
            else:
                result.found.append((case.kept, self._joined(case, graded.score), self._call_log(case, graded)))
            on_done()

    def _joined(self, case: _Case, rerun: Score) -> Score:
        """Return the replayed score with the tests that were run again, or only these if nothing could be replayed."""
        kept = case.kept.scored.score
        before = {entry.test_id: entry for entry in kept.entries} if self._may_use(case.kept) else {}
        new = {entry.test_id: _decided(entry, before.get(entry.test_id)) for entry in rerun.entries}
        isolation = rerun.isolation.weaker(kept.isolation) if before else rerun.isolation
        if case.score is None or len(case.changed) == len(case.score.entries):
            return replace(rerun, entries=tuple(new.values()), isolation=isolation)
        entries = tuple(new[e.test_id] if e.test_id in case.changed else e for e in case.score.entries)
        curves = (*(curve for curve in case.score.curves if curve.test_id not in case.changed), *rerun.curves)
        gpu = rerun.gpu or case.score.gpu
        return replace(case.score, entries=entries, curves=curves, gpu=gpu, isolation=isolation)

    def _may_use(self, kept: StoredScore) -> bool:
        """Return whether the program of a kept score ran with no less isolation than this regrade offers."""
        return kept.scored.score.isolation.holds(self._isolation)

    def _call_log(self, case: _Case, graded: Graded) -> bytes:
        if case.score is None or not graded.call_log:
            return graded.call_log
        before = CallLog.from_bytes(case.job.replayed())
        return before.updated(CallLog.from_bytes(graded.call_log), case.changed).to_bytes()


def differs(before: Score, after: Score) -> bool:
    """Return whether two scores of one submission differ in anything but the time taken."""
    return [_without_times(entry) for entry in before.entries] != [_without_times(entry) for entry in after.entries]


def _without_times(entry: Entry) -> Entry:
    return replace(entry, cases=tuple(replace(case, wall_s=0.0) for case in entry.cases))


def _decided(new: Entry, before: Entry | None) -> Entry:
    """Return the new entry, or the earlier one if this run had no GPU or no time to train for the test."""
    deferred = new.status is Status.DEFERRED and before is not None and not before.status.is_open
    return before if deferred and before is not None else new


def _called_as(score: Score, kept: StoredScore) -> Score:
    """Return the score under the name by which the submission was first graded."""
    return replace(score, submission=kept.scored.score.submission)
