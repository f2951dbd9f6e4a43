"""Grades submissions with a suite of another tool: the interface of `viva.examiner.grader.Grader`.

Each kind of suite gives its tests, and what runs them on one submission. The suite runs in the process of the graded
code, and every result says so.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.question import Question
from viva.examiner.catalog import TestFunction
from viva.examiner.grader import MOST_CONFIRMED, NOT_READABLE, Questions, signature
from viva.examiner.load_notes import notes_for_student
from viva.examiner.outcome import Outcome
from viva.examiner.points import case_of, entry_of, leader_value
from viva.examiner.sinks import Sinks
from viva.examiner.turns import Turns
from viva.model import Entry, Isolation, Score, Status, Submission
from viva.model.grade_request import GradeRequest
from viva.model.score import Leader
from viva.model.seeds import Seeds

SHARED: Final = "verdicts that the graded code cannot forge ({kind} tests run in its process)"
"""What every result says under `isolation.missing`."""
MIXED: Final = (
    "hidden tests that the graded code cannot read (files of the suite hold visible and hidden tests, or share)"
)
"""What results say in addition if that is so."""


class SuiteTest(Protocol):
    """One test of a suite."""

    @property
    def function(self) -> TestFunction:
        """Return the description of the test, in the form that the tests of other assignments have."""
        ...


class SuiteRun(Protocol):
    """Runs the tests on one submission."""

    asked: list[Question]
    leader: Any
    """What the last test reported for its leaderboard: an untrusted value."""

    def outcome(self, test: Any) -> Outcome:
        """Return the outcome of one of the tests; never raise for what the submission does."""
        ...


class BeginRun(Protocol):
    """Begins with a submission."""

    def __call__(self, submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, SuiteRun]:
        """Return a session for the submission, and what runs the tests in it.

        Args:
            submission: what is graded.
            test_s: seconds for each test.
            record: keep what each test asks.
        """


@dataclass(slots=True)
class SuiteGrader:
    """Everything that stays the same for all submissions of one assignment."""

    assignment: Assignment
    seeds: Seeds
    tests: Sequence[SuiteTest]
    """In the order in which they run."""
    begin: BeginRun
    is_mixed: bool = False
    """Whether the graded code can read hidden tests while visible ones run."""
    turns: Turns = field(default_factory=Turns)

    @property
    def functions(self) -> Sequence[TestFunction]:
        """Return the descriptions of the tests, in the order in which they run."""
        return [test.function for test in self.tests]

    def grade(self, request: GradeRequest, sinks: Sinks) -> tuple[Score, list[Questions]]:
        """Grade one submission; arguments and result as those of Grader.grade."""
        started = time.monotonic()
        submission, options, limits = request.submission, request.options, self.assignment.limits
        test_s = min(options.call_s, limits.test_s) if options.call_s else limits.test_s
        session, first = self.begin(submission, test_s, record=options.questions)
        session.alone = lambda: self.turns.alone(sinks.on_progress)

        @contextmanager
        def begin_again() -> Iterator[SuiteRun]:
            with self.turns.alone(sinks.on_progress):
                other, run = self.begin(submission, test_s, record=options.questions)
                try:
                    yield run
                finally:
                    other.close()

        run = first
        if options.call_s is None:
            run = RetriedRun(first, lambda: self.turns.shared(sinks.on_progress), begin_again)
        entries, leaders, questions = list[Entry](), list[Leader](), list[Questions]()
        try:
            for test in self.tests:
                function = test.function
                if not options.selects(function.test_id, function.number, visible=not function.hidden):
                    continue
                entry = _grade_test(function, test, submission, run, leaders)
                entries.append(entry)
                sinks.on_entry(entry)
                if options.questions:
                    questions.append((function.test_id, [question.shown() for question in run.asked]))
                if options.until_loss and entry.earned < entry.points and not entry.status.is_open:
                    break
        finally:
            session.close()
        return self._score(submission, session, entries, leaders, time.monotonic() - started), questions

    def _score(
        self, submission: Submission, session: BoxSession, entries: list[Entry], leaders: list[Leader], wall_s: float
    ) -> Score:
        kind = str(self.assignment.suite)
        ready = session.isolation
        isolation = Isolation("none")
        if ready is not None:
            missing = [*ready.missing, SHARED.format(kind=kind)]
            if self.is_mixed:
                missing.append(MIXED)
            isolation = Isolation(str(ready.tier), dict(ready.layers), dict(ready.probes), tuple(missing))
        return Score(
            submission=submission.name,
            content_hash=submission.content_hash,
            assignment=self.assignment.name,
            version=self.assignment.version,
            entries=tuple(entries),
            notes=notes_for_student(submission, session.report),
            isolation=isolation,
            signature={**signature(self.assignment, self.seeds, ready), "suite": kind},
            leaderboard=tuple(leaders),
            environment=session.environment,
            wall_s=wall_s,
        )


def _grade_test(
    function: TestFunction, test: SuiteTest, submission: Submission, run: SuiteRun, leaders: list[Leader]
) -> Entry:
    started = time.monotonic()
    run.leader = None
    outcome = Outcome(Status.FAILED, NOT_READABLE) if submission.problem else run.outcome(test)
    if function.leaderboard is not None and run.leader is not None:
        column, order = function.leaderboard
        try:
            leaders.append(Leader(column, leader_value(run.leader, function.test_id, hidden=function.hidden), order))
        except ValueError as error:
            outcome = replace(outcome, status=Status.FAILED, message=f"{outcome.message}\n{error}".strip())
    case = case_of(function, "", outcome, None, time.monotonic() - started)
    return entry_of(function, [case], [outcome])


@dataclass(slots=True)
class RetriedRun:
    """Runs the tests. If a busy machine may have ended a test, it runs that test again, alone and from the start."""

    run: SuiteRun
    among_others: Callable[[], AbstractContextManager[None]]
    """In this context, no test of another examiner is asked alone."""
    begin_again: Callable[[], AbstractContextManager[SuiteRun]]
    """In this context, no other test runs on this machine; gives what runs the tests in fresh boxes."""
    asked: list[Question] = field(default_factory=list)
    leader: Any = None
    confirmed: int = 0

    def outcome(self, test: SuiteTest) -> Outcome:
        """Return the outcome of a test, of its retry if the first one was doubtful."""
        with self.among_others():
            found = self._run(self.run, test)
        if not found.doubtful or self.confirmed >= MOST_CONFIRMED:
            return found
        with self.begin_again() as run:
            found = self._run(run, test)
        self.confirmed += found.doubtful
        return found

    def _run(self, run: SuiteRun, test: SuiteTest) -> Outcome:
        run.leader = None
        found = run.outcome(test)
        self.asked, self.leader = run.asked, run.leader
        return found
