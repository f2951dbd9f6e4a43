"""Graders for nbgrader and otter assignments; `viva.plugins.suites.shared_grader` holds what all suites share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.question import Question
from viva.examiner.outcome import Outcome, judge
from viva.model import Submission
from viva.model.box_source import BoxSource
from viva.model.errors import BoxError, GraderError
from viva.model.seeds import Seeds
from viva.plugins.suites.cells.cell_loader import CellLoader
from viva.plugins.suites.cells.cell_run import NotebookRun
from viva.plugins.suites.cells.cell_tests import CellTest
from viva.plugins.suites.nbgrader.nbgrader_grading import NbgraderRun, NbgraderSuite
from viva.plugins.suites.nbgrader.nbgrader_source import FOLDER, read_source
from viva.plugins.suites.otter.otter_grading import OtterRun, OtterSuite, read_otter
from viva.plugins.suites.shared_grader import SharedGrader

PRELOAD: Final[tuple[str, ...]] = ("doctest",)


@dataclass(slots=True)
class CellGrader(SharedGrader):
    """Everything that stays the same for all submissions of one assignment."""

    suite: NbgraderSuite | OtterSuite

    @classmethod
    def start(cls, assignment: Assignment, source: BoxSource, secret: bytes) -> "CellGrader":
        """Read the author's files as text.

        Raises:
            CourseError: one of them cannot be read, or uses what cannot be imported.
        """
        nbgrader = assignment.suite == "nbgrader"
        suite = NbgraderSuite(read_source(assignment.graders / FOLDER)) if nbgrader else read_otter(assignment)
        return cls(assignment, source, Seeds(secret, assignment.name, assignment.version), suite)

    @property
    def kind(self) -> str:
        """Return what assignment.yaml calls such suites."""
        return str(self.assignment.suite)

    @property
    def tests(self) -> Sequence[CellTest]:
        """Return the tests in the order in which they run."""
        return self.suite.tests

    @property
    def mixed(self) -> bool:
        """Return False: the notebook runs without hidden tests, and students read only the output of that run."""
        return False

    def begin(self, submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, "_CellRun"]:
        """Return a session for one submission, and what runs the tests in it."""
        limits = self.assignment.limits
        loader = CellLoader(submission, self.assignment)
        session = BoxSession(self.source, loader, limits, record=record)
        run = NotebookRun(session, loader, limits, limits.load_s)
        seed = self.seeds.box("suite")
        if isinstance(self.suite, NbgraderSuite):
            return session, _CellRun(run, NbgraderRun(self.suite, run, seed, {}).outcome)
        return session, _CellRun(run, OtterRun(self.suite, run, seed, {}).outcome)


@dataclass(slots=True)
class _CellRun:
    """Returns an outcome for each test, whatever the boxes do."""

    run: NotebookRun
    of: Callable[[CellTest], Outcome]
    leader: Any = None
    asked: list[Question] = field(default_factory=list)

    def outcome(self, test: CellTest) -> Outcome:
        self.run.asked = self.asked = []
        try:
            return self.of(test)
        except (BoxError, GraderError) as error:
            return judge(error, answered=True)
