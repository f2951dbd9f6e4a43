"""Grade a class again after tests, points or the key have changed.

Call logs give the answers; where they cannot, the students' programs run just the tests that changed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from viva.config import Assignment, Course
from viva.model import Entry, Isolation, Score, Status
from viva.model.errors import EXPECTED_ERRORS, GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job, Pool
from viva.plugins.records.call_log import CallLog, unpack_changed
from viva.plugins.records.store import Records, StoredScore
from viva.plugins.records.tables import pack_score, unpack_score
from viva.submissions import open_submission


@dataclass(slots=True)
class _Case:
    """One submission in progress. Its scores are read when they are needed: a class of them is large."""

    number: int
    """Of the score that counts now."""
    name: str
    job: Job
    has_answers: bool
    """Whether its call log can be replayed."""
    replayed: bytes = b""
    """The score that the call log gave, packed, where some tests must be asked again."""
    changed: tuple[str, ...] = ()
    """Those tests."""


@dataclass(frozen=True, slots=True)
class Regraded:
    """One submission that was graded again."""

    kept: StoredScore
    """The score that counts now."""
    score: Score
    call_log: bytes
    """The new call log; empty if nothing was asked again."""

    @property
    def differs(self) -> bool:
        """Return whether the two scores differ in anything but the time taken."""
        return _without_times(self.kept.scored.score) != _without_times(self.score)


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
        self.skipped: list[tuple[str, str]] = []
        """Submissions that could not be graded again, and why."""
        self.programs_run = 0
        """How many programs had to be run again."""

    def run(self, kept: Iterable[StoredScore]) -> Iterator[Regraded]:
        """Grade submissions again; yield each of them once it is graded.

        Args:
            kept: the scores that count now.

        Raises:
            UsageError: the course has an error.
        """
        opened = (self._open(each) for each in kept)
        cases = {case.job.name: case for case in opened if case is not None}
        yield from self._replay(cases)
        yield from self._ask_again(cases)

    def _open(self, kept: StoredScore) -> _Case | None:
        """Return a submission if its bytes are still those that were graded; they are read again when it is graded."""
        attempt, graded = kept.scored.attempt, kept.scored.score
        try:
            submission = open_submission(attempt.path, graded.submission, withheld=self._course.withheld)
        except EXPECTED_ERRORS as error:
            self.skipped.append((attempt.name, str(error).rstrip(".")))
            return None
        if submission.content_hash != graded.content_hash:
            self.skipped.append((attempt.name, f"{attempt.path}: what is there now is not what was graded"))
            return None
        job = Job(
            attempt.path,
            f"{attempt.name} ({kept.id})",  # attempts may share the first part
            self._assignment,
            may_hold_notebook=submission.may_hold_notebook,
            interceptor_input=partial(self._read_call_log, kept.call_log_id),
        )
        has_answers = kept.call_log_id is not None and self._assignment.suite is None and self._may_use(kept)
        return _Case(kept.id, attempt.name, job, has_answers)

    def _read_call_log(self, call_log_id: int | None) -> bytes:
        """Return a call log.

        Raises:
            GraderError: it was deleted meanwhile.
        """
        call_log = self._records.call_log(call_log_id)
        if not call_log:
            raise GraderError("its call log is empty")
        return call_log

    def _replay(self, cases: dict[str, _Case]) -> Iterator[Regraded]:
        """Grade from the call logs; what has none, or cannot be answered from it, remains to be run."""
        for job, graded in self._replaying.run([case.job for case in cases.values() if case.has_answers]):
            if isinstance(graded, UsageError):
                raise graded
            if not isinstance(graded, Graded) or not graded.finished:
                continue
            changed = unpack_changed(graded.interceptor_output)
            if changed:
                case = cases[job.name]
                case.replayed, case.changed = pack_score(graded.score), tuple(changed)
                continue
            for kept in self._records.stored([cases.pop(job.name).number]):
                yield _as_submitted(kept, graded.score, b"")

    def _ask_again(self, cases: dict[str, _Case]) -> Iterator[Regraded]:
        jobs = []
        for case in cases.values():
            only = case.changed if case.replayed else None
            options = replace(self._options, only=only)
            jobs.append(replace(case.job, options=options, interceptor_input=bytes))
        self.programs_run = len(jobs)
        for job, graded in self._pool.run(jobs):
            case = cases.pop(job.name)
            if isinstance(graded, UsageError):
                raise graded
            if isinstance(graded, Exception):
                self.skipped.append((case.name, str(graded)))
            elif graded.score.has_grader_error or not graded.finished:
                self.skipped.append((case.name, "something went wrong on the grader's side"))
            else:
                for kept in self._records.stored([case.number]):  # unless the student was deleted meanwhile
                    yield _as_submitted(kept, self._join(kept, case, graded.score), _join_logs(case, graded))

    def _join(self, kept: StoredScore, case: _Case, rerun: Score) -> Score:
        """Return the replayed score with the tests that were run again, or only these if nothing could be replayed."""
        score = kept.scored.score
        before = {entry.test_id: entry for entry in score.entries} if self._may_use(kept) else {}
        new = {entry.test_id: _keep_deferred(entry, before.get(entry.test_id)) for entry in rerun.entries}
        isolation = rerun.isolation.weaker(score.isolation) if before else rerun.isolation
        replayed = unpack_score(case.replayed) if case.replayed else None
        if replayed is None or len(case.changed) == len(replayed.entries):
            return replace(rerun, entries=tuple(new.values()), isolation=isolation)
        entries = tuple(new[e.test_id] if e.test_id in case.changed else e for e in replayed.entries)
        curves = (*(curve for curve in replayed.curves if curve.test_id not in case.changed), *rerun.curves)
        gpu = rerun.gpu or replayed.gpu
        return replace(replayed, entries=entries, curves=curves, gpu=gpu, isolation=isolation)

    def _may_use(self, kept: StoredScore) -> bool:
        """Return whether the program of a kept score ran with no less isolation than this regrade offers."""
        return kept.scored.score.isolation.holds(self._isolation)


def _as_submitted(kept: StoredScore, score: Score, call_log: bytes) -> Regraded:
    """Return a new score under the name by which the submission was first graded."""
    return Regraded(kept, replace(score, submission=kept.scored.score.submission), call_log)


def _join_logs(case: _Case, graded: Graded) -> bytes:
    if not case.replayed or not graded.interceptor_output:
        return graded.interceptor_output
    before = CallLog.from_bytes(case.job.interceptor_input())
    return before.replace_tests(CallLog.from_bytes(graded.interceptor_output), case.changed).to_bytes()


def _without_times(score: Score) -> list[Entry]:
    return [replace(e, cases=tuple(replace(case, wall_s=0.0) for case in e.cases)) for e in score.entries]


def _keep_deferred(new: Entry, before: Entry | None) -> Entry:
    """Return the new entry, or the earlier one if this run had no GPU or no time to train for the test."""
    if new.status is Status.DEFERRED and before is not None and not before.status.is_open:
        return before
    return new
