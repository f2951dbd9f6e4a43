"""Grade a class again after tests, points or the key have changed.

Call logs give the answers; where they cannot, the students' programs run just the tests that changed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from viva.config import Assignment, Course
from viva.model import Entry, Isolation, Score, Status
from viva.model.errors import EXPECTED_ERRORS, GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job, Pool
from viva.plugins.records.call_log import CallLog
from viva.plugins.records.call_log.changed_tests import unpack_changed
from viva.plugins.records.row_packing import pack_score, unpack_score
from viva.plugins.records.store import Records
from viva.plugins.records.stored_scores import StoredScore
from viva.submissions import open_submission

_AT_ONCE: Final = 100
"""New scores that are kept until the scores that count are read with one query."""
OTHER_BYTES: Final = "what is there now is not what was graded"


@dataclass(slots=True)
class Regraded:
    """What a regrade found."""

    left: list[tuple[str, str]] = field(default_factory=list)
    """Submissions that could not be graded again, and why."""
    programs_run: int = 0
    """How many programs had to be run again."""


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
        self._on_graded: Callable[[StoredScore, Score, bytes], None] = lambda *_: None
        self._on_done: Callable[[], None] = lambda: None
        self._ready: dict[int, tuple[Score, bytes]] = {}
        """New scores and call logs, by the number of the score that counts."""

    def run(
        self,
        kept: Iterable[StoredScore],
        on_graded: Callable[[StoredScore, Score, bytes], None],
        on_done: Callable[[], None] = lambda: None,
    ) -> Regraded:
        """Grade these submissions again.

        Args:
            kept: the scores that count now.
            on_graded: called with each of these scores, the new score and its call log.
            on_done: called after each submission.

        Raises:
            UsageError: the course has an error.
        """
        result = Regraded()
        opened = (self._case(each, result) for each in kept)
        cases = {case.job.name: case for case in opened if case is not None}
        self._on_graded, self._on_done = on_graded, on_done
        self._replay(cases)
        self._ask_again(cases, result)
        self._hand_on()
        return result

    def _case(self, kept: StoredScore, result: Regraded) -> _Case | None:
        """Return a submission if its bytes are still those that were graded; they are read again when it is graded."""
        attempt, graded = kept.scored.attempt, kept.scored.score
        try:
            submission = open_submission(attempt.path, graded.submission, withheld=self._course.withheld)
        except EXPECTED_ERRORS as error:
            result.left.append((attempt.name, str(error).rstrip(".")))
            return None
        if submission.content_hash != graded.content_hash:
            result.left.append((attempt.name, f"{attempt.path}: {OTHER_BYTES}"))
            return None
        job = Job(
            attempt.path,
            f"{attempt.name} ({kept.id})",  # attempts may share the first part
            self._assignment,
            may_hold_notebook=submission.may_hold_notebook,
            interceptor_input=partial(self._call_log_of, kept),
        )
        has_answers = kept.call_log_id is not None and self._assignment.suite is None and self._may_use(kept)
        return _Case(kept.id, attempt.name, job, has_answers)

    def _call_log_of(self, kept: StoredScore) -> bytes:
        """Return the call log of a score.

        Raises:
            GraderError: it was deleted meanwhile.
        """
        call_log = self._records.call_log(kept.call_log_id)
        if not call_log:
            raise GraderError("its call log is empty")
        return call_log

    def _replay(self, cases: dict[str, _Case]) -> None:
        """Grade from the call logs; what has none, or cannot be answered from it, remains to be run."""
        for job, graded in self._replaying.run([case.job for case in cases.values() if case.has_answers]):
            if isinstance(graded, UsageError):
                raise graded
            if not isinstance(graded, Graded) or not graded.finished:
                continue
            changed = unpack_changed(graded.interceptor_output)
            if not changed:
                self._end(cases.pop(job.name), graded.score, b"")
                continue
            case = cases[job.name]
            case.replayed, case.changed = pack_score(graded.score), tuple(changed)

    def _ask_again(self, cases: dict[str, _Case], result: Regraded) -> None:
        jobs = []
        for case in cases.values():
            only = case.changed if case.replayed else None
            options = replace(self._options, only=only)
            jobs.append(replace(case.job, options=options, interceptor_input=bytes))
        result.programs_run = len(jobs)
        for job, graded in self._pool.run(jobs):
            case = cases.pop(job.name)
            if isinstance(graded, UsageError):
                raise graded
            if isinstance(graded, Exception):
                result.left.append((case.name, str(graded)))
            elif graded.score.has_grader_error or not graded.finished:
                result.left.append((case.name, "something went wrong on the grader's side"))
            else:
                self._end_asked(case, graded)
                continue
            self._on_done()

    def _end_asked(self, case: _Case, graded: Graded) -> None:
        replayed = unpack_score(case.replayed) if case.replayed else None
        for kept in self._records.stored([case.number]):
            score = self._joined(kept, replayed, case.changed, graded.score)
            self._end(case, score, self._call_log(case, graded))

    def _end(self, case: _Case, score: Score, call_log: bytes) -> None:
        """Take a new score; the scores that count are read for several at once."""
        self._ready[case.number] = (score, call_log)
        if len(self._ready) >= _AT_ONCE:
            self._hand_on()
        self._on_done()

    def _hand_on(self) -> None:
        """Hand on new scores, under the names by which the submissions were first graded."""
        for kept in self._records.stored([*self._ready]):  # not those of a student who was deleted in the meantime
            score, call_log = self._ready[kept.id]
            self._on_graded(kept, replace(score, submission=kept.scored.score.submission), call_log)
        self._ready.clear()

    def _joined(self, kept: StoredScore, replayed: Score | None, changed: Sequence[str], rerun: Score) -> Score:
        """Return the replayed score with the tests that were run again, or only these if nothing could be replayed."""
        score = kept.scored.score
        before = {entry.test_id: entry for entry in score.entries} if self._may_use(kept) else {}
        new = {entry.test_id: _decided(entry, before.get(entry.test_id)) for entry in rerun.entries}
        isolation = rerun.isolation.weaker(score.isolation) if before else rerun.isolation
        if replayed is None or len(changed) == len(replayed.entries):
            return replace(rerun, entries=tuple(new.values()), isolation=isolation)
        entries = tuple(new[e.test_id] if e.test_id in changed else e for e in replayed.entries)
        curves = (*(curve for curve in replayed.curves if curve.test_id not in changed), *rerun.curves)
        gpu = rerun.gpu or replayed.gpu
        return replace(replayed, entries=entries, curves=curves, gpu=gpu, isolation=isolation)

    def _may_use(self, kept: StoredScore) -> bool:
        """Return whether the program of a kept score ran with no less isolation than this regrade offers."""
        return kept.scored.score.isolation.holds(self._isolation)

    def _call_log(self, case: _Case, graded: Graded) -> bytes:
        if not case.replayed or not graded.interceptor_output:
            return graded.interceptor_output
        before = CallLog.from_bytes(case.job.interceptor_input())
        return before.updated(CallLog.from_bytes(graded.interceptor_output), case.changed).to_bytes()


def differs(before: Score, after: Score) -> bool:
    """Return whether two scores of one submission differ in anything but the time taken."""
    return [_without_times(entry) for entry in before.entries] != [_without_times(entry) for entry in after.entries]


def _without_times(entry: Entry) -> Entry:
    return replace(entry, cases=tuple(replace(case, wall_s=0.0) for case in entry.cases))


def _decided(new: Entry, before: Entry | None) -> Entry:
    """Return the new entry, or the earlier one if this run had no GPU or no time to train for the test."""
    deferred = new.status is Status.DEFERRED and before is not None and not before.status.is_open
    return before if deferred and before is not None else new
