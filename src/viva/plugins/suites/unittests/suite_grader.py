"""Grades submissions with an existing unittest suite; shared_grader.py holds what all suites share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.model import Submission
from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import StudentRaised
from viva.model.seeds import Seeds
from viva.plugins.suites.shared_grader import SharedGrader
from viva.plugins.suites.unittests.suite_loader import SuiteLoader
from viva.plugins.suites.unittests.suite_reading import Suite, SuiteTest, read_suite
from viva.plugins.suites.unittests.suite_run import SuiteRun
from viva.sandbox.guest.transport.message_types import Request
from viva.sandbox.reply import Reply

PRELOAD: Final[tuple[str, ...]] = (
    "unittest",
    "gradescope_utils.autograder_utils.decorators?",
    "gradescope_utils.autograder_utils.files?",
)


@dataclass(slots=True)
class SuiteGrader(SharedGrader):
    """Everything that stays the same for all submissions of one assignment."""

    suite: Suite

    @classmethod
    def start(cls, assignment: Assignment, source: BoxSource, secret: bytes) -> "SuiteGrader":
        """Read the suite in its own box.

        Raises:
            CourseError: the suite cannot be read.
            BoxUnavailable: this host cannot create a box.
        """
        box = source.take()
        try:
            suite = read_suite(assignment, partial(_answer, box))
        finally:
            box.close()
        return cls(assignment, source, Seeds(secret, assignment.name, assignment.version), suite)

    @property
    def kind(self) -> str:
        """Return what assignment.yaml calls such suites."""
        return "unittest"

    @property
    def tests(self) -> Sequence[SuiteTest]:
        """Return the tests in the order in which they run."""
        return self.suite.tests

    @property
    def mixed(self) -> bool:
        """Return whether the graded code can read hidden tests while visible ones run."""
        return any(test.function.hidden and test.module not in self.suite.apart for test in self.suite.tests)

    def begin(self, submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, SuiteRun]:
        """Return a session for one submission, and what runs the tests in it."""
        limits = self.assignment.limits
        loader = SuiteLoader(submission, self.assignment, self.suite.open_files, self.seeds.box("suite"))
        session = BoxSession(self.source, loader, limits, record=record)
        return session, SuiteRun(self.suite, session, loader, limits, test_s)


def _answer(box: AnyBox, request: Request, *, timeout_s: float, soft_s: float | None = None) -> Any:
    """Ask a box that holds no student files."""
    reply = Reply.parse(box.ask(request.op, timeout_s=timeout_s, soft_s=soft_s, **request.fields()))
    if reply.raised is not None:
        raise StudentRaised.from_wire(reply.raised)
    return reply.value
