"""A class whose scores are kept: nothing is graded again that was graded before, and no score is lost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sqlalchemy.orm import Session

from viva.model import Attempt, Isolation, Score, Student
from viva.model.errors import UsageError
from viva.model.grade_request import Graded
from viva.model.reason import Reason
from viva.pipeline.jobs import Job
from viva.pipeline.score_store import Restore, Sorted
from viva.plugins.records import CALL_LOG
from viva.plugins.records.claims import Claims
from viva.plugins.records.conditions import Conditions, RunConditions, Standing, compare_conditions
from viva.plugins.records.database import split_values, write_session
from viva.plugins.records.overrides import ByHand, DecidedScore, apply_overrides, ends_of_attempts
from viva.plugins.records.store import NewScore, Records, StoredScore, add_call_log, add_score
from viva.plugins.records.tables import GRADED


class ScoreCache:
    """Knows which submissions of a class have scores, and keeps those that are graded now: a ScoreStore."""

    interceptor: Final = CALL_LOG

    def __init__(
        self,
        records: Records,
        run: RunConditions,
        isolation: Isolation,
        reason: Reason,
        claims: Claims,
        *,
        again: bool = False,
    ) -> None:
        """Prepare.

        Args:
            records: where scores are kept.
            run: what the run grades with.
            isolation: what the run offers at the least.
            reason: who grades, and why.
            claims: what other graders of these records have at the moment; not asked with `again`.
            again: grade everything, also what has a score, and keep both scores.
        """
        self._records, self._run, self._isolation = records, run, isolation
        self._reason, self._claims, self._again = reason, claims, again
        self._numbers: dict[str, int] = {}
        """The numbers of the attempts, by the names of the jobs."""

    def sort(self, jobs: Sequence[Job], restore: Restore) -> Sorted:
        """Find out what to grade, and restore what has a score. A part of the class is read at a time."""
        found = Sorted()
        by_assignment: dict[str, list[Job]] = {}
        for job in jobs:
            by_assignment.setdefault(job.assignment.name, []).append(job)
        for assignment, members in by_assignment.items():
            by_hand = ByHand.read(self._records, assignment)
            ends = ends_of_attempts(self._records, assignment) if by_hand.overrides else {}
            for part in split_values(members):
                submitted = [(attempt_of(job), job.content_hash) for job in part]
                numbers = self._records.add_attempts(assignment, submitted)
                self._numbers |= {job.name: number for job, number in zip(part, numbers, strict=True)}
                latest = {} if self._again else self._records.latest(numbers)
                for job, number in zip(part, numbers, strict=True):
                    stored = latest.get(number)
                    if stored is None or not self._may_use(job, stored, found):
                        found.to_grade.append(job)
                        continue
                    decided = _decide(by_hand, job, stored.scored.score, ends.get(number))
                    restore(job, decided, changed=stored.kind != GRADED or by_hand.touches(stored))
        names = {job.name for job in found.to_grade}
        found.to_grade = [job for job in jobs if job.name in names]  # in the order of the class
        return found

    def _may_use(self, job: Job, stored: StoredScore, found: Sorted) -> bool:
        """Return whether a stored score counts for this run, and count why."""
        standing = compare_conditions(stored.scored.score, stored.conditions, self._conditions(job))
        match standing:
            case Standing.WEAKER:
                found.weaker[stored.scored.score.isolation.tier] += 1
            case Standing.SAME:
                found.unchanged += 1
            case Standing.OTHER_SECRET:
                found.by_other_secret[job.assignment.name] += 1
            case Standing.OTHER_TESTS:
                found.by_other_tests[job.assignment.name] += 1
        return standing not in (Standing.WEAKER, Standing.LESS)

    def may_start(self, job: Job) -> bool:
        """Claim a job; False if another grader has it, or has kept a score since the jobs were sorted.

        Raises:
            UsageError: the records cannot be written.
        """
        if self._again:
            return True
        number, wanted = self._numbers[job.name], self._conditions(job)
        if not self._claims.take(wanted.identity(number), number):
            return False
        stored = self._records.latest([number]).get(number)
        if stored is None:
            return True
        if compare_conditions(stored.scored.score, stored.conditions, wanted) is not Standing.SAME:
            return True
        self.give_back(job)
        return False

    def give_back(self, job: Job) -> None:
        """End the claim of a job that was not graded, or whose score is kept."""
        if not self._again:
            self._claims.give_back(self._conditions(job).identity(self._numbers[job.name]))

    def with_others(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Return the names of the jobs that other graders have at the moment, each with its grader."""
        identities = {self._conditions(job).identity(self._numbers[job.name]): job.name for job in jobs}
        return {identities[each]: holder for each, holder in self._claims.find_others(identities).items()}

    def _conditions(self, job: Job) -> Conditions:
        return self._run.create(job.assignment, self._isolation, options=job.options)

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> list[DecidedScore]:
        """Keep scores, all or none; one that is pending through a fault of the grader is graded again next time.

        Returns:
            The scores with what people decided before they were graded: about a submission, or about the same bytes.

        Raises:
            UsageError: they cannot be written; the message says whose score the first is.
        """
        try:
            with write_session(self._records.engine) as session:
                for job, one in graded:
                    self._add(session, job, one)
        except UsageError as error:
            raise UsageError(f"{graded[0][0].name} was graded and not kept: {error}") from error
        return [self._with_decisions(job, one.score) for job, one in graded]

    def _add(self, session: Session, job: Job, graded: Graded) -> None:
        """Store a score and end its claim in an open transaction."""
        number, score = self._numbers[job.name], graded.score
        whole = graded.finished and not score.has_grader_error
        made = self._run.create(job.assignment, score.isolation, options=job.options, whole=whole)
        call_log_id = add_call_log(session, graded.interceptor_output)
        add_score(session, NewScore(number, score, made, self._reason, call_log_id, once=not self._again))
        if not self._again:
            self._claims.end(session, self._conditions(job).identity(number))

    def _with_decisions(self, job: Job, score: Score) -> DecidedScore:
        name, assignment = attempt_of(job).name, job.assignment.name
        by_hand = ByHand.read_about(self._records, assignment, [name], [score.content_hash])
        ends: Mapping[int, str | None] = {}
        if by_hand.overrides:
            ends = ends_of_attempts(self._records, assignment, name)
        return _decide(by_hand, job, score, ends.get(self._numbers[job.name]))


def _decide(by_hand: ByHand, job: Job, score: Score, end: str | None) -> DecidedScore:
    overrides = by_hand.held(attempt_of(job).name, end)
    return DecidedScore(apply_overrides(score, overrides), by_hand.marks.get(score.content_hash, {}))


def attempt_of(job: Job) -> Attempt:
    """Return the attempt in the class list; without one, the name of the folder or file is the student's."""
    if job.attempt is not None:
        return job.attempt
    name = job.path.name if job.path.name not in ("", ".", "..") else job.path.resolve().name
    return Attempt(name, job.path.absolute(), (Student(Path(name).stem if job.path.is_file() else name),))
