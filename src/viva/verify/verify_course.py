"""Verifies assignments: points add up, and every known submission gets what it should, through the real path."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.config.rubric import Rubric
from viva.model import Score, Tier
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.verify.earlier_replies import Earlier, EarlierReplies, Verified
from viva.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.verify.mutants.mutant import Mutant
from viva.verify.mutants.mutant_report import survivor
from viva.verify.mutants.mutant_trial import judge
from viva.verify.mutants.quick_mutants import LIMIT_S, ten
from viva.verify.rubric_checks import rubric_complaints
from viva.verify.verdict_check import blank_answers, complaints, heading_complaints, points_complaint, waits

LOAD_S: Final = 1.5
CALL_S: Final = 3.0
"""The most seconds for a cell, and for a test, of an example that is known to run into a time limit; one that sleeps
takes four times as long."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    complaints: tuple[str, ...]
    verified: Verified | None = None
    """The submission's score, and its call log if call logs are kept."""
    is_mutant: bool = False
    """True for a right answer that was broken, and must have lost points."""
    waits: bool = False
    """True when a test that must fail was left out, so that the verdict is not decided yet."""
    replayed: bool = False
    """True if the replies of the last verification were enough, so that the program did not run."""

    @property
    def holds(self) -> bool:
        """Return whether there is nothing to complain about."""
        return not self.complaints

    @property
    def score(self) -> Score | None:
        """Return what the submission got; None if this is not about a submission."""
        return None if self.verified is None else self.verified.score


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of grading one example or mutant."""

    verified: Verified
    replayed: bool


def verify(  # noqa: PLR0913  # the options of `viva verify`, most of them keywords
    course: Course,
    assignments: Sequence[Assignment],
    tier: Tier,
    secret: bytes,
    workers: int = 0,
    *,
    with_mutants: bool = True,
    training: bool = False,
    gpus: Gpus | None = None,
    call_logs: bool = False,
    earlier: Earlier | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Iterator[tuple[Assignment, list[Finding]]]:
    """Grade everything that has an expected verdict, all assignments in one batch so that no core waits for another.

    Args:
        course: the course.
        assignments: what to verify.
        tier: the isolation level.
        secret: the secret of the course.
        workers: how many processes; 0 for one per core.
        with_mutants: whether ten mutants of each assignment are graded too.
        training: whether tests that train are run; never for mutants.
        gpus: what is offered to tests that need a GPU; None to leave them out.
        call_logs: whether the findings hold call logs.
        earlier: what programs replied in earlier verifications, to be used where tests ask the same; they need call
            logs.
        on_progress: called after each submission and mutant, with how many are graded and how many there are.

    Yields:
        Each assignment in the order given, with a finding about its points, one about its rubric if there is one, one
        per known submission, and one for each of ten mutants.

    Raises:
        CourseError: a rubric is wrong in itself; or what `example_submissions` raises.
    """
    examples = {a.name: example_submissions(course, a) for a in assignments}
    rubrics = {a.name: a.rubric() for a in assignments}
    mutants = {a.name: ten(a, examples[a.name]) if with_mutants else [] for a in assignments}
    jobs = _jobs(assignments, examples, mutants, training=training, call_logs=call_logs)
    results: dict[str, dict[str, _Result]] = {a.name: {} for a in assignments}
    shared: dict[bytes, bytes] = {}
    left = list(assignments)
    boxes = BoxOptions(tier, gpus=gpus or Gpus())
    options = GradeOptions(training=training)
    grading = EarlierReplies(
        {} if gpus is not None and gpus.devices else earlier or {},
        LocalPool(course, secret, BoxOptions(tier, replay_only=True), options, workers),
        LocalPool(course, secret, boxes, options, workers),
    )
    for count, (job, graded) in enumerate(grading.run(jobs), 1):
        if isinstance(graded, Exception):
            raise graded
        on_progress(count, len(jobs))
        replayed = (job.assignment.name, job.name) in grading.replayed
        verified = Verified.of(graded.score, graded.call_log, shared)
        results[job.assignment.name][job.name] = _Result(verified, replayed)
        while left and len(results[name := left[0].name]) == len(examples[name]) + len(mutants[name]):
            done = left.pop(0)
            found = _findings(done, rubrics[name], examples[name], results[name])
            yield done, found + [_mutant(done, m, results[name][m.name]) for m, _ in mutants[name]]


def _jobs(
    assignments: Sequence[Assignment],
    examples: Mapping[str, Sequence[ExampleSubmission]],
    mutants: Mapping[str, Sequence[tuple[Mutant, ExampleSubmission]]],
    *,
    training: bool,
    call_logs: bool,
) -> list[Job]:
    """Return what to grade, one assignment after the other, so that the findings about the first come soon.

    Submissions that run into a time limit come first: while one worker waits for them, the others grade the rest.
    """
    slow: list[Job] = []
    others: list[Job] = []
    until_loss = GradeOptions(until_loss=True, call_s=LIMIT_S, training=False, call_log=call_logs)
    for a in assignments:
        for k in examples[a.name]:
            options = _options(k, training=training, call_log=call_logs)
            jobs = slow if k.verdict == "timeout" else others
            jobs.append(Job(Path(k.name), k.name, a, k.submission, options))
        others += [Job(Path(m.name), m.name, a, m.submission(k.submission), until_loss) for m, k in mutants[a.name]]
    return slow + others


def _options(example: ExampleSubmission, *, training: bool, call_log: bool) -> GradeOptions:
    """Return how to grade an example.

    One that is known to run into a time limit meets a shorter one, and is not tried again, unless its trainings run.
    """
    options = GradeOptions(training=training, call_log=call_log)
    hurry = example.verdict == "timeout" and not training
    return replace(options, load_s=LOAD_S, call_s=CALL_S) if hurry else options


def _findings(
    assignment: Assignment,
    rubric: Rubric,
    examples: Sequence[ExampleSubmission],
    results: Mapping[str, _Result],
) -> list[Finding]:
    scores = [results[k.name].verified.score for k in examples]
    complaint = points_complaint(assignment, scores[0].points)
    by_heading = heading_complaints(assignment, scores[0].entries)
    found = [Finding("points", (*([complaint] if complaint else []), *by_heading))]
    if rubric.questions:
        found.append(Finding("rubric", rubric_complaints(rubric, scores)))
    return [*found, *(_finding(assignment, k, results[k.name]) for k in examples)]


def _mutant(assignment: Assignment, mutant: Mutant, result: _Result) -> Finding:
    verdict = judge(mutant, result.verified.score)
    complaint = "\n".join(survivor(assignment, verdict)) if verdict.kind == "survived" else ""
    return Finding(mutant.name, (complaint,) if complaint else (), result.verified, is_mutant=True)


def _finding(assignment: Assignment, example: ExampleSubmission, result: _Result) -> Finding:
    score = result.verified.score
    blank = blank_answers(example, score) if assignment.suite is None else []  # a suite's own example is its author's
    return Finding(
        example.name,
        (*complaints(example, score), *blank),
        result.verified,
        waits=waits(example, score),
        replayed=result.replayed,
    )
