"""What all graders of existing suites share: the interface of `viva.examiner.grader.Grader`.

The suite runs in the process of the graded code, and every result says so.
"""

import time
from abc import ABC, abstractmethod
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
from viva.model.box_source import BoxSource
from viva.model.grade_request import GradeRequest
from viva.model.score import Leader
from viva.model.seeds import Seeds

SHARED: Final = "verdicts that the graded code cannot forge ({kind} tests run in its process)"
"""What every result says under `isolation.missing`."""
MIXED: Final = (
    "hidden tests that the graded code cannot read (files of the suite hold visible and hidden tests, or share)"
)
"""What results say in addition if that is so."""


class SharedTest(Protocol):
    """One test of a suite."""

    @property
    def function(self) -> TestFunction:
        """Return the description of the test, in the form that the tests of other assignments have."""
        ...


class SharedRun(Protocol):
    """Runs the tests on one submission."""

    asked: list[Question]
    leader: Any
    """What the last test reported for its leaderboard: an untrusted value."""

    def outcome(self, test: Any) -> Outcome:
        """Return the outcome of one of the tests; never raise for what the submission does."""
        ...


@dataclass(slots=True)
class SharedGrader(ABC):
    """Everything that stays the same for all submissions of one assignment."""

    assignment: Assignment
    source: BoxSource
    seeds: Seeds
    turns: Turns = field(default_factory=Turns, kw_only=True)

    @property
    @abstractmethod
    def kind(self) -> str:
        """Return what assignment.yaml calls such suites."""

    @property
    @abstractmethod
    def tests(self) -> Sequence[SharedTest]:
        """Return the tests in the order in which they run."""

    @property
    @abstractmethod
    def mixed(self) -> bool:
        """Return whether the graded code can read hidden tests while visible ones run."""

    @abstractmethod
    def begin(self, submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, SharedRun]:
        """Return a session for one submission, and what runs the tests in it.

        Args:
            submission: what is graded.
            test_s: seconds for each test.
            record: keep what each test asks.
        """

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
        alone = session.alone = lambda: self.turns.alone(sinks.on_progress)

        @contextmanager
        def anew() -> Iterator[SharedRun]:
            with alone():
                other, again = self.begin(submission, test_s, record=options.questions)
                try:
                    yield again
                finally:
                    other.close()

        run = (
            first
            if options.call_s is not None
            else _TwoTries(first, lambda: self.turns.shared(sinks.on_progress), anew)
        )
        entries: list[Entry] = []
        leaders: list[Leader] = []
        questions: list[Questions] = []
        try:
            for test in self.tests:
                function = test.function
                if not options.selects(function.test_id, function.number, visible=not function.hidden):
                    continue
                entries.append(self._entry(test, submission, run, leaders))
                sinks.on_entry(entries[-1])
                if options.questions:
                    questions.append((function.test_id, [question.shown() for question in run.asked]))
                lost = entries[-1].earned < entries[-1].points and not entries[-1].status.is_open
                if options.until_loss and lost:
                    break
        finally:
            session.close()
        return self._score(submission, session, entries, leaders, time.monotonic() - started), questions

    def _entry(self, test: SharedTest, submission: Submission, run: SharedRun, leaders: list[Leader]) -> Entry:
        started = time.monotonic()
        function = test.function
        run.leader = None
        outcome = Outcome(Status.FAILED, NOT_READABLE) if submission.problem else run.outcome(test)
        if function.leaderboard is not None and run.leader is not None:
            try:
                value = leader_value(run.leader, function.test_id, hidden=function.hidden)
                leaders.append(Leader(function.leaderboard[0], value, function.leaderboard[1]))
            except ValueError as error:
                outcome = replace(outcome, status=Status.FAILED, message=f"{outcome.message}\n{error}".strip())
        case = case_of(function, "", outcome, None, time.monotonic() - started)
        return entry_of(function, [case], [outcome])

    def _score(
        self, submission: Submission, session: BoxSession, entries: list[Entry], leaders: list[Leader], wall_s: float
    ) -> Score:
        ready_message = session.isolation
        shared = SHARED.format(kind=self.kind)
        missing = (
            (*ready_message.missing, shared, *([MIXED] if self.mixed else [])) if ready_message is not None else ()
        )
        return Score(
            submission=submission.name,
            content_hash=submission.content_hash,
            assignment=self.assignment.name,
            version=self.assignment.version,
            entries=tuple(entries),
            notes=notes_for_student(submission, session.report),
            isolation=Isolation(
                str(ready_message.tier), dict(ready_message.layers), dict(ready_message.probes), missing
            )
            if ready_message is not None
            else Isolation("none"),
            signature={**signature(self.assignment, self.seeds, ready_message), "suite": self.kind},
            leaderboard=tuple(leaders),
            environment=session.environment,
            wall_s=wall_s,
        )


@dataclass(slots=True)
class _TwoTries:
    """Runs the tests. If a busy machine may have ended a test, it runs that test again, alone and from the start."""

    run: SharedRun
    among_others: Callable[[], AbstractContextManager[None]]
    """In this context, no test of another examiner is asked alone."""
    anew: Callable[[], AbstractContextManager[SharedRun]]
    """In this context, no other test runs on this machine; gives what runs the tests in fresh boxes."""
    asked: list[Question] = field(default_factory=list)
    leader: Any = None
    confirmed: int = 0

    def outcome(self, test: SharedTest) -> Outcome:
        with self.among_others():
            found = self._of(self.run, test)
        if not found.doubtful or self.confirmed >= MOST_CONFIRMED:
            return found
        with self.anew() as run:
            found = self._of(run, test)
        self.confirmed += found.doubtful
        return found

    def _of(self, run: SharedRun, test: SharedTest) -> Outcome:
        run.leader = None
        found = run.outcome(test)
        self.asked, self.leader = run.asked, run.leader
        return found
