"""A class whose scores are kept: nothing is graded again that was graded before, and no score is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viva.model import Attempt, Isolation, Score, Student
from viva.model.errors import UsageError
from viva.model.grade_request import Graded
from viva.pipeline.jobs import Job
from viva.records import Records, StoredScore
from viva.records.claims import Claims
from viva.records.conditions import Asked, Conditions, Standing, standing
from viva.records.overrides import ByHand, DecidedScore, Override, held_now, overridden
from viva.records.store import GRADED, Reason


@dataclass(slots=True)
class Sorted:
    """A class, sorted by what there is to do."""

    to_grade: list[Job] = field(default_factory=list)
    kept: list[tuple[Job, StoredScore]] = field(default_factory=list)
    """Graded before, by the same tests and the same engine."""
    earlier: list[tuple[Job, StoredScore]] = field(default_factory=list)
    """Graded before, by other tests or another engine: a regrade would show what that changes."""
    weaker: list[tuple[Job, StoredScore]] = field(default_factory=list)
    """Graded before with a weaker isolation, and so among `to_grade`."""


class ScoreCache:
    """Knows which submissions of a class have scores, and keeps those that are graded now."""

    def __init__(
        self,
        records: Records,
        asked: Asked,
        isolation: Isolation,
        reason: Reason,
        claims: Claims,
        *,
        again: bool = False,
    ) -> None:
        """Prepare.

        Args:
            records: where scores are kept.
            asked: what the run asks for.
            isolation: what the run offers at the least.
            reason: who grades, and why.
            claims: what other graders of these records have at the moment; not asked with `again`.
            again: grade everything, also what has a score, and keep both scores.
        """
        self._records, self._asked, self._isolation = records, asked, isolation
        self._reason, self._claims, self._again = reason, claims, again
        self._numbers: dict[str, int] = {}

    def sort(self, jobs: Sequence[Job]) -> Sorted:
        """Return what to grade, and what has a score; set the content hash of every job."""
        for assignment in {job.assignment.name: job.assignment for job in jobs}.values():
            theirs = [job for job in jobs if job.assignment.name == assignment.name]
            numbers = self._records.add_attempts(
                assignment.name, [(attempt_of(job), job.content_hash) for job in theirs]
            )
            self._numbers |= {job.name: number for job, number in zip(theirs, numbers, strict=True)}
        if self._again:
            return Sorted([*jobs])
        latest = self._records.latest(self._numbers.values())
        found = Sorted()
        for job in jobs:
            last = latest.get(self._numbers[job.name])
            if last is None:
                found.to_grade.append(job)
                continue
            how = standing(last.scored.score, last.conditions, self._conditions(job))
            if how is Standing.SAME:
                found.kept.append((job, last))
            elif how is Standing.OTHER_TESTS:
                found.earlier.append((job, last))
            else:
                found.to_grade.append(job)
                if how is Standing.WEAKER:
                    found.weaker.append((job, last))
        return found

    def may_start(self, job: Job) -> bool:
        """Claim a job; False if another grader has it, or has kept a score since the jobs were sorted.

        Raises:
            UsageError: the records cannot be written.
        """
        if self._again:
            return True
        number, conditions = self._numbers[job.name], self._conditions(job)
        if not self._claims.take(conditions.identity(number), number):
            return False
        last = self._records.latest([number]).get(number)
        if last is not None and standing(last.scored.score, last.conditions, conditions) is Standing.SAME:
            self.give_back(job)
            return False
        return True

    def give_back(self, job: Job) -> None:
        """End the claim of a job that was not graded, or whose score is kept."""
        if self._again:
            return
        self._claims.give_back(self._conditions(job).identity(self._numbers[job.name]))

    def with_others(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Return the names of the jobs that other graders have at the moment, each with its grader."""
        identities = {self._conditions(job).identity(self._numbers[job.name]): job.name for job in jobs}
        return {identities[each]: holder for each, holder in self._claims.of_others(identities).items()}

    def _conditions(self, job: Job) -> Conditions:
        return self._asked.conditions(job.assignment, self._isolation, options=job.options)

    def scores(self, found: Sorted) -> list[tuple[Job, DecidedScore, bool]]:
        """Return the scores of what is not graded now, with what people decided, and whether they changed anything."""
        names = {job.assignment.name for job, _ in (*found.kept, *found.earlier)}
        by_hand = {name: ByHand.of(self._records, name) for name in names}
        held = {name: held_now(self._records, name, by_hand[name]) if by_hand[name].overrides else {} for name in names}
        scores = []
        for job, kept in (*found.kept, *found.earlier):
            people = by_hand[job.assignment.name]
            score = _decided(people, job, kept.attempt_id, kept.scored.score, held[job.assignment.name])
            scores.append((job, score, kept.kind != GRADED or people.touches(kept)))
        return scores

    def keep(self, job: Job, graded: Graded) -> DecidedScore:
        """Keep a score; one that is pending through a fault of the grader is graded again next time.

        Returns:
            The score with what people decided before it was graded: about this submission, or about the same bytes.

        Raises:
            UsageError: it cannot be written; the message says whose score it is.
        """
        number, assignment, name = self._numbers[job.name], job.assignment.name, attempt_of(job).name
        whole = graded.finished and not graded.score.has_grader_error
        made = self._asked.conditions(job.assignment, graded.score.isolation, options=job.options, whole=whole)
        try:
            self._records.add_score(
                number, graded.score, made, self._reason, call_log=graded.call_log, once=not self._again
            )
        except UsageError as error:
            raise UsageError(f"{job.name} was graded and not kept: {error}") from error
        self.give_back(job)
        people = ByHand.about(self._records, assignment, name, graded.score.content_hash)
        held = held_now(self._records, assignment, people, name) if people.overrides else {}
        return _decided(people, job, number, graded.score, held)


def _decided(
    people: ByHand, job: Job, number: int, score: Score, held: Mapping[int, Mapping[str, Override]]
) -> DecidedScore:
    name = attempt_of(job).name
    by_hand = held[number] if number in held else people.held(name)  # otherwise another submission has replaced it
    return DecidedScore(overridden(score, by_hand), people.marks.get(score.content_hash, {}))


def attempt_of(job: Job) -> Attempt:
    """Return the attempt in the class list; without one, the name of the folder or file is the student's."""
    if job.attempt is not None:
        return job.attempt
    name = job.path.name if job.path.name not in ("", ".", "..") else job.path.resolve().name
    return Attempt(name, job.path.absolute(), (Student(Path(name).stem if job.path.is_file() else name),))
