"""Verifies assignments: points add up, and every known submission gets what it should, through the real path."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.config.read_config import suggest
from viva.config.rubric import Question, Rubric
from viva.formats.points_total import points_complaint
from viva.model import Entry, Score, Status, Tier
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions
from viva.model.hand_grading import UNREADABLE
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.plugins.verify.mutants.mutant import Mutant
from viva.plugins.verify.mutants.mutant_report import survivor
from viva.plugins.verify.mutants.mutant_trial import judge
from viva.plugins.verify.mutants.quick_mutants import LIMIT_S, ten
from viva.plugins.verify.verdict_check import blank_answers, complaints, heading_complaints, waits

LOAD_S: Final = 1.5
CALL_S: Final = 3.0
"""The most seconds for a cell, and for a test, of an example that is known to run into a time limit; one that sleeps
takes four times as long."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    complaints: tuple[str, ...]
    score: Score | None = None
    """What the submission got; None if this is not about a submission."""
    is_mutant: bool = False
    """True for a right answer that was broken, and must have lost points."""
    waits: bool = False
    """True when a test that must fail was left out, so that the verdict is not decided yet."""

    @property
    def holds(self) -> bool:
        """Return whether there is nothing to complain about."""
        return not self.complaints


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
    jobs = _jobs(assignments, examples, mutants, training=training)
    scores: dict[str, dict[str, Score]] = {a.name: {} for a in assignments}
    left = list(assignments)
    boxes = BoxOptions(tier, gpus=gpus or Gpus())
    pool = LocalPool(course, secret, boxes, GradeOptions(training=training), workers)
    for count, (job, graded) in enumerate(pool.run(jobs), 1):
        if isinstance(graded, Exception):
            raise graded
        on_progress(count, len(jobs))
        scores[job.assignment.name][job.name] = graded.score
        while left and len(scores[name := left[0].name]) == len(examples[name]) + len(mutants[name]):
            done = left.pop(0)
            found = _findings(done, rubrics[name], examples[name], scores[name])
            yield done, found + [_mutant(done, m, scores[name][m.name]) for m, _ in mutants[name]]


def _jobs(
    assignments: Sequence[Assignment],
    examples: Mapping[str, Sequence[ExampleSubmission]],
    mutants: Mapping[str, Sequence[tuple[Mutant, ExampleSubmission]]],
    *,
    training: bool,
) -> list[Job]:
    """Return what to grade, one assignment after the other, so that the findings about the first come soon.

    Submissions that run into a time limit come first: while one worker waits for them, the others grade the rest.
    """
    slow: list[Job] = []
    others: list[Job] = []
    until_loss = GradeOptions(until_loss=True, call_s=LIMIT_S, training=False)
    for a in assignments:
        for k in examples[a.name]:
            options = _options(k, training=training)
            jobs = slow if k.verdict == "timeout" else others
            jobs.append(Job(Path(k.name), k.name, a, k.submission, options))
        others += [Job(Path(m.name), m.name, a, m.submission(k.submission), until_loss) for m, k in mutants[a.name]]
    return slow + others


def _options(example: ExampleSubmission, *, training: bool) -> GradeOptions:
    """Return how to grade an example.

    One that is known to run into a time limit meets a shorter one, and is not tried again, unless its trainings run.
    """
    options = GradeOptions(training=training)
    hurry = example.verdict == "timeout" and not training
    return replace(options, load_s=LOAD_S, call_s=CALL_S) if hurry else options


def _findings(
    assignment: Assignment,
    rubric: Rubric,
    examples: Sequence[ExampleSubmission],
    scores: Mapping[str, Score],
) -> list[Finding]:
    in_order = [scores[k.name] for k in examples]
    complaint = points_complaint(assignment, in_order[0].points)
    by_heading = heading_complaints(assignment, in_order[0].entries)
    found = [Finding("points", (*([complaint] if complaint else []), *by_heading))]
    if rubric.questions:
        found.append(Finding("rubric", rubric_complaints(rubric, in_order)))
    return [*found, *(_finding(assignment, k, scores[k.name]) for k in examples)]


def _mutant(assignment: Assignment, mutant: Mutant, score: Score) -> Finding:
    verdict = judge(mutant, score)
    complaint = "\n".join(survivor(assignment, verdict)) if verdict.kind == "survived" else ""
    return Finding(mutant.name, (complaint,) if complaint else (), score, is_mutant=True)


def _finding(assignment: Assignment, example: ExampleSubmission, score: Score) -> Finding:
    blank = blank_answers(example, score) if assignment.suite is None else []  # a suite's own example is its author's
    return Finding(example.name, (*complaints(example, score), *blank), score, waits=waits(example, score))


def rubric_complaints(rubric: Rubric, scores: Sequence[Score]) -> tuple[str, ...]:
    """Return what is wrong, a sentence each; nothing where an assignment has no rubric.

    Args:
        rubric: the assignment's.
        scores: of all submissions with an expected verdict; they show which questions are graded by hand.
    """
    if not rubric.questions:
        return ()
    graded_by_hand = {
        entry.rubric: entry
        for score in scores
        for entry in score.entries
        if entry.status is Status.NEEDS_REVIEW and entry.rubric and not entry.rubric.startswith(UNREADABLE)
    }
    numbers = [q.number for q in rubric.questions]
    without_question = [
        f"{graded_by_hand[number].test_id} is graded with the rubric's question {number}, and rubric.yaml has none"
        f"{suggest(number, numbers).rstrip('.')}"
        for number in sorted(set(graded_by_hand) - set(numbers))
    ]
    entries = [e for score in scores for e in score.entries]
    return (
        *without_question,
        *(c for q in rubric.questions for c in _complaints(q, graded_by_hand.get(q.number), entries)),
    )


def _complaints(question: Question, entry: Entry | None, entries: Sequence[Entry]) -> list[str]:
    found = []
    here = f"question {question.number} of rubric.yaml"
    if entry is None:
        if not any(e.status is Status.DEFERRED and e.number == question.number for e in entries):
            found.append(f"{here} is asked by no test that was run: expected a test that ends with needs_review")
    elif entry.points != question.points:
        found.append(f"{here} has {question.points} points, and {entry.test_id} is worth {entry.points}")
    tests = {name for e in entries if e.status is not Status.NEEDS_REVIEW for name in e.names}
    for name in question.evidence:
        if name not in tests:
            found.append(f"{here} names `{name}` as evidence, but there is no such test{_suggestion(name, tests)}")
    return found


def _suggestion(name: str, tests: set[str]) -> str:
    suggestion = suggest(name, sorted(tests))
    return suggestion if suggestion.startswith("; did you") else ""
