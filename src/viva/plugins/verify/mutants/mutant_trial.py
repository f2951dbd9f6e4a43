"""Runs the tests on every mutant of an assignment, through the same path as a student's submission."""

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.model import Entry, Score, Status, Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.plugins.verify.mutants import general_mistakes
from viva.plugins.verify.mutants.asked_names import asked, main_files, roots_of
from viva.plugins.verify.mutants.equivalent import read_equivalents
from viva.plugins.verify.mutants.make_mutants import MutantMaker
from viva.plugins.verify.mutants.mutant import Mutant
from viva.plugins.verify.mutants.reachable_code import ReachableCode
from viva.plugins.verify.mutants.submission_code import Piece, pieces_of

SLOW: Final = 5
"""A mutant hangs if it takes this many times longer than the right answer's slowest test."""
LEAST_S: Final = 2.0
SLOW_TO_LOAD: Final = 2
"""It hangs while it is loaded if that takes this many times longer than the right answer's whole grading."""
LEAST_LOAD_S: Final = 5.0
_SLOW_IMPORTS: Final = ("torch", "scipy", "pandas")
"""Modules so slow to import that they are imported once for all mutants."""


@dataclass(frozen=True, slots=True)
class RightAnswer:
    """An accepted submission as it was graded: what its mutants are compared with."""

    example: ExampleSubmission
    score: Score
    asked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By test, the student's names that it asks about."""

    @property
    def won(self) -> list[str]:
        """Return the tests that give points and gave all of them."""
        return [e.test_id for e in self.score.entries if e.status is Status.PASSED and e.points]

    def touching(self, mutant: Mutant) -> list[str]:
        """Return which of the won tests ask about a function that the mutant's change can reach."""
        return [t for t in self.won if self.asked.get(t, frozenset()) & set(mutant.reached_by)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one mutant."""

    mutant: Mutant
    kind: str
    """`killed`, `survived`, `equivalent` or `left_open`."""
    by: str = ""
    """The test that it lost first, or what went wrong on the grader's side."""
    in_time: bool = True
    """False if it ran into the limit for mutants."""


ReportProgress = Callable[[int, int], None]
"""Called with the number of graded mutants and the number of all."""


def accepted(examples: Sequence[ExampleSubmission], assignment: Assignment) -> list[ExampleSubmission]:
    """Return the key and the fixtures that lose no points; of the references, only those that the key imports."""
    found = [k for k in examples if k.verdict == "accepted" and not k.failing]
    return [_without_unused_references(k, assignment) if k.name == "key" else k for k in found]


def _without_unused_references(key: ExampleSubmission, assignment: Assignment) -> ExampleSubmission:
    pieces = pieces_of(key.submission)
    needed = ReachableCode(pieces).imported_from(main_files(assignment, pieces))
    files = tuple(f for f in key.submission.files if f.path in needed)
    return replace(key, submission=replace(key.submission, files=files))


def mutants_of(assignment: Assignment, right: Sequence[RightAnswer]) -> list[Mutant]:
    """Return every mutant of every right answer; what two answers have in common is broken once."""
    roots = roots_of(assignment)
    seen: set[str] = set()
    found: list[Mutant] = []
    for base in right:
        pieces = pieces_of(base.example.submission)
        names = sorted({*roots, *(n for names in base.asked.values() for n in names)})
        maker = MutantMaker(base.example.name, ReachableCode(pieces), names, main_files(assignment, pieces), seen)
        found += maker.mutants(with_library=general_mistakes.installed())
    return found


def try_all(
    course: Course,
    assignment: Assignment,
    tier: Tier,
    secret: bytes,
    workers: int = 0,
    report_progress: ReportProgress = lambda done, all_: None,
    untested: Set[str] = frozenset(),
) -> tuple[list[Verdict], list[str]]:
    """Grade every mutant of an assignment, but those that only names without a test reach.

    Each is first graded by the tests that its change can reach and, if it loses nothing there, by every other.

    Returns:
        A verdict for each mutant, and sentences about what is wrong with the assignment's list of equivalent ones.
    """
    examples = accepted(example_submissions(course, assignment), assignment)
    pieces = [piece for k in examples for piece in pieces_of(k.submission)]
    options = GradeOptions(questions=True, training=False)
    pool = LocalPool(course, secret, BoxOptions(tier, preload=slow_imports(pieces)), options, workers)
    right = {base.example.name: base for base in _right_answers(pool, assignment, examples)}
    equivalents = read_equivalents(assignment)
    verdicts: list[Verdict] = []
    made = mutants_of(assignment, list(right.values()))
    left = [m for m in made if not m.reached_by or not untested >= set(m.reached_by)]
    total = len(left)
    for ask in (RightAnswer.touching, lambda base, _: base.won):
        survivors: list[Mutant] = []
        jobs = {m.name: _job(assignment, right[m.base], m, ask(right[m.base], m)) for m in left}
        by_name = {m.name: m for m in left}
        for job, graded in pool.run(list(jobs.values())):
            if isinstance(graded, Exception):
                raise graded
            verdict = judge(by_name[job.name], graded.score)
            if verdict.kind == "survived" and ask is RightAnswer.touching and not verdict.by:
                survivors.append(verdict.mutant)
            else:
                verdicts.append(verdict)
            report_progress(len(verdicts), total)
        left = sorted(survivors, key=lambda m: m.name)
    verdicts = [
        replace(v, kind=equivalents.kind_of(v.mutant) or v.kind) if v.kind == "survived" and not v.by else v
        for v in verdicts
    ]
    return verdicts, equivalents.stale() if general_mistakes.installed() else []


def judge(mutant: Mutant, score: Score) -> Verdict:
    """Return whether the mutant was killed, by the first test in which it loses points.

    A grader that breaks on a mutant has not noticed it.
    """
    for entry in score.entries:
        if entry.status.is_fault:
            return Verdict(mutant, "survived", f"{entry.test_id} broke: {_last_line(entry)}")
        if entry.earned < entry.points and not entry.status.is_open:
            return Verdict(mutant, "killed", entry.test_id, entry.status is not Status.TIMEOUT)
    return Verdict(mutant, "survived")


def _right_answers(
    pool: LocalPool, assignment: Assignment, examples: Sequence[ExampleSubmission]
) -> Iterator[RightAnswer]:
    jobs = [Job(Path(k.name), k.name, assignment, k.submission) for k in examples]
    graded: dict[str, Graded] = {}
    for job, result in pool.run(jobs):
        if isinstance(result, Exception):
            raise result
        graded[job.name] = result
    for k in examples:
        yield RightAnswer(k, graded[k.name].score, asked(graded[k.name].questions))


def _job(assignment: Assignment, base: RightAnswer, mutant: Mutant, tests: list[str]) -> Job:
    slowest = max((case.wall_s for entry in base.score.entries for case in entry.cases), default=0.0)
    call_s = max(LEAST_S, SLOW * slowest)
    load_s = max(LEAST_LOAD_S, SLOW_TO_LOAD * base.score.wall_s)
    only = tuple(tests or base.won)
    options = GradeOptions(only=only, until_loss=True, call_s=call_s, load_s=load_s, training=False)
    return Job(Path(mutant.name), mutant.name, assignment, mutant.submission(base.example.submission), options)


def slow_imports(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the slow-to-import modules that some of the code imports, if they are installed."""
    return tuple(
        name
        for name in _SLOW_IMPORTS
        if any(f"import {name}" in p.text or f"from {name}" in p.text for p in pieces)
        and importlib.util.find_spec(name)
    )


def _last_line(entry: Entry) -> str:
    return (entry.staff_message or entry.message).strip().splitlines()[-1]
