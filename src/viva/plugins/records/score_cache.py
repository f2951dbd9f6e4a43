"""A class whose scores are kept: nothing is graded again that was graded before, and no score is lost."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from sqlalchemy import Connection

from viva.model import Attempt, Isolation, Score, Student
from viva.model.errors import UsageError
from viva.model.grade_request import Graded
from viva.model.reason import Reason
from viva.pipeline.jobs import Job
from viva.pipeline.score_store import Restore, Sorted
from viva.plugins.records import CALL_LOG
from viva.plugins.records.claims import Claims
from viva.plugins.records.conditions import Asked, Conditions, Standing, standing
from viva.plugins.records.database import parts, writing
from viva.plugins.records.overrides import ByHand, DecidedScore, Override, held_now, overridden
from viva.plugins.records.store import GRADED, Records, add_graded

_AHEAD_S: Final = 0.25
"""For how long jobs are claimed ahead of their start."""
_MOST_AHEAD: Final = 16
"""How many of them at most: other graders cannot take these."""


class ScoreCache:
    """Knows which submissions of a class have scores, and keeps those that are graded now: a ScoreStore."""

    interceptor: Final = CALL_LOG

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
        self._in_order: list[Job] = []
        self._places: dict[str, int] = {}
        self._claimed: dict[str, bool] = {}
        """Jobs that were claimed ahead, and whether they may start."""
        self._last_claim = (0, 0.0)
        """The place of the job that was claimed last, and when."""
        self._looking = threading.Lock()

    def sort(self, jobs: Sequence[Job], restore: Restore) -> Sorted:
        """Find out what to grade, and restore what has a score. A part of the class is read at a time."""
        found = Sorted()
        for assignment in {job.assignment.name: job.assignment for job in jobs}.values():
            theirs = [job for job in jobs if job.assignment.name == assignment.name]
            people: _People | None = None
            for part in parts(theirs):
                handed_in = [(attempt_of(job), job.content_hash) for job in part]
                numbers = self._records.add_attempts(assignment.name, handed_in)
                self._numbers |= {job.name: number for job, number in zip(part, numbers, strict=True)}
                if not self._again:
                    people = people or _People.of(self._records, assignment.name)
                    self._sort_part(part, people, found, restore)
        names = {job.name for job in found.to_grade}
        found.to_grade = [job for job in jobs if self._again or job.name in names]  # in the order of the class
        self._in_order, self._claimed = found.to_grade, {}
        self._places = {job.name: place for place, job in enumerate(found.to_grade)}
        return found

    def _sort_part(self, jobs: Sequence[Job], people: "_People", found: Sorted, restore: Restore) -> None:
        latest = self._records.latest(self._numbers[job.name] for job in jobs)
        for job in jobs:
            last = latest.get(self._numbers[job.name])
            if last is None:
                found.to_grade.append(job)
                continue
            how = standing(last.scored.score, last.conditions, self._conditions(job))
            if how is Standing.WEAKER:
                found.weaker[last.scored.score.isolation.tier] += 1
            if how in (Standing.WEAKER, Standing.LESS):
                found.to_grade.append(job)
                continue
            if how is Standing.SAME:
                found.unchanged += 1
            elif how is Standing.OTHER_SECRET:
                found.by_other_secret[job.assignment.name] += 1
            else:
                found.by_other_tests[job.assignment.name] += 1
            score = _decided(people.by_hand, job, last.attempt_id, last.scored.score, people.held)
            restore(job, score, changed=last.kind != GRADED or people.by_hand.touches(last))

    def may_start(self, job: Job) -> bool:
        """Claim a job; False if another grader has it, or has kept a score since the jobs were sorted.

        Where submissions take milliseconds, the next ones are claimed with it: a transaction takes as long.

        Raises:
            UsageError: the records cannot be written.
        """
        if self._again:
            return True
        with self._looking:
            if job.name not in self._claimed:
                self._claimed |= self._claim([job, *self._following(job)])
            return self._claimed.pop(job.name)

    def _following(self, job: Job) -> list[Job]:
        """Return the jobs after a job that will start within a quarter of a second, as fast as jobs start now."""
        place, moment = self._places.get(job.name, 0), time.monotonic()
        started, since = self._last_claim
        self._last_claim = place, moment
        count = int(_AHEAD_S * max(0, place - started) / max(moment - since, 1e-3))
        following = self._in_order[place + 1 : place + 1 + min(count, _MOST_AHEAD)]
        return [other for other in following if other.name not in self._claimed]

    def _claim(self, jobs: Sequence[Job]) -> dict[str, bool]:
        """Return for each job whether it may start, and claim those that may."""
        conditions = {job.name: self._conditions(job) for job in jobs}
        identities = {name: made.identity(self._numbers[name]) for name, made in conditions.items()}
        taken = self._claims.take_each({identity: self._numbers[name] for name, identity in identities.items()})
        ours = [job for job in jobs if identities[job.name] in taken]
        latest = self._records.latest(self._numbers[job.name] for job in ours)
        for job in ours:
            last = latest.get(self._numbers[job.name])
            if last is not None and standing(last.scored.score, last.conditions, conditions[job.name]) is Standing.SAME:
                self.give_back(job)
                taken.discard(identities[job.name])
        return {name: identity in taken for name, identity in identities.items()}

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

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> list[DecidedScore]:
        """Keep scores, all or none; one that is pending through a fault of the grader is graded again next time.

        Returns:
            The scores with what people decided before they were graded: about a submission, or about the same bytes.

        Raises:
            UsageError: they cannot be written; the message says whose score the first is.
        """
        try:
            with writing(self._records.engine) as connection:
                for job, one in graded:
                    self._add(connection, job, one)
        except UsageError as error:
            raise UsageError(f"{graded[0][0].name} was graded and not kept: {error}") from error
        people = {name: self._people(name, graded) for name in {job.assignment.name for job, _ in graded}}
        return [self._with_decisions(job, one.score, people[job.assignment.name]) for job, one in graded]

    def _add(self, connection: Connection, job: Job, graded: Graded) -> None:
        """Store a score and end its claim in an open transaction."""
        number, once = self._numbers[job.name], not self._again
        whole = graded.finished and not graded.score.has_grader_error
        made = self._asked.conditions(job.assignment, graded.score.isolation, options=job.options, whole=whole)
        add_graded(connection, number, graded.score, made, self._reason, call_log=graded.interceptor_output, once=once)
        if not self._again:
            self._claims.end(connection, self._conditions(job).identity(number))

    def _people(self, assignment: str, graded: Sequence[tuple[Job, Graded]]) -> ByHand:
        """Read what people decided about these submissions of an assignment."""
        theirs = [(attempt_of(job).name, one.score) for job, one in graded if job.assignment.name == assignment]
        names, hashes = {name for name, _ in theirs}, {score.content_hash for _, score in theirs}
        return ByHand.about(self._records, assignment, names, hashes)

    def _with_decisions(self, job: Job, score: Score, people: ByHand) -> DecidedScore:
        name = attempt_of(job).name
        held = held_now(self._records, job.assignment.name, people, name) if name in people.overrides else {}
        return _decided(people, job, self._numbers[job.name], score, held)


@dataclass(frozen=True, slots=True)
class _People:
    """What people decided about an assignment, and which overrides hold for each attempt."""

    by_hand: ByHand
    held: Mapping[int, Mapping[str, Override]]

    @classmethod
    def of(cls, records: Records, assignment: str) -> Self:
        by_hand = ByHand.of(records, assignment)
        return cls(by_hand, held_now(records, assignment, by_hand) if by_hand.overrides else {})


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
