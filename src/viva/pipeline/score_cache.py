"""A class whose scores are kept: nothing is graded again that was graded before, and no score is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viva.config import Assignment
from viva.model import Attempt, Score, Status, Student
from viva.model.errors import UsageError
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.records import Records, StoredScore
from viva.records.grading_identity import identity_of, made_with
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


class ScoreCache:
    """Knows which submissions of a class have scores, and keeps those that are graded now."""

    def __init__(
        self,
        records: Records,
        root: Path,
        secret: bytes,
        options: GradeOptions,
        reason: Reason,
        *,
        gpu: bool = False,
        again: bool = False,
    ) -> None:
        """Prepare.

        Args:
            records: where scores are kept.
            root: the course's folder.
            secret: the course's secret.
            options: which tests run.
            reason: who grades, and why.
            gpu: whether the run offers a GPU: without one, tests that need it stay pending.
            again: grade everything, also what has a score, and keep both scores.
        """
        self._records, self._root, self._secret, self._options = records, root, secret, options
        self._reason, self._gpu, self._again = reason, gpu, again
        self._made: dict[str, str] = {}
        self._identities: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def sort(self, jobs: Sequence[Job]) -> Sorted:
        """Return what to grade, and what has a score; set the content hash of every job."""
        for assignment in {job.assignment.name: job.assignment for job in jobs}.values():
            theirs = [job for job in jobs if job.assignment.name == assignment.name]
            numbers = self._records.add_attempts(
                assignment.name, [(attempt_of(job), job.content_hash) for job in theirs]
            )
            self._numbers |= {job.name: number for job, number in zip(theirs, numbers, strict=True)}
        self._identities = {job.name: self._identity(job) for job in jobs}
        if self._again:
            return Sorted([*jobs])
        kept = self._records.graded(self._identities.values())
        latest = self._records.latest(self._numbers.values())
        found = Sorted()
        for job in jobs:
            last = latest.get(self._numbers[job.name])
            if last is not None and self._identities[job.name] in kept:
                found.kept.append((job, last))
            elif last is not None and not self._has_more(last):
                found.earlier.append((job, last))
            else:
                found.to_grade.append(job)
        return found

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
        whole = graded.finished and not graded.score.has_grader_error
        number, assignment, name = self._numbers[job.name], job.assignment.name, attempt_of(job).name
        try:
            self._records.add_score(
                number,
                graded.score,
                made_with=self._made_with(job.assignment),
                identity=self._identities[job.name] if whole and not self._again else None,
                reason=self._reason,
                call_log=graded.call_log,
            )
        except UsageError as error:
            raise UsageError(f"{job.name} was graded and not kept: {error}") from error
        people = ByHand.about(self._records, assignment, name, graded.score.content_hash)
        held = held_now(self._records, assignment, people, name) if people.overrides else {}
        return _decided(people, job, number, graded.score, held)

    def _has_more(self, kept: StoredScore) -> bool:
        """Return whether this run could grade what the kept score left pending."""
        score = kept.scored.score
        needs = {need for e in score.entries if e.status is Status.DEFERRED for need in e.needs}
        offered = {"training" if self._options.training else "", "gpu" if self._gpu else ""}
        return score.has_grader_error or bool(needs & offered)

    def _made_with(self, assignment: Assignment) -> str:
        if assignment.name not in self._made:
            self._made[assignment.name] = made_with(assignment, self._root)
        return self._made[assignment.name]

    def _identity(self, job: Job) -> str:
        made, options = self._made_with(job.assignment), job.options or self._options
        number = self._numbers[job.name]
        return identity_of(number, job.content_hash, made, self._secret, job.assignment, options, gpu=self._gpu)


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
