"""Loads a submission into a box, and runs its notebook's cells, and the tests between or after them, in order.

Each is a separate request, so that only a step that ends its box is lost: the others run again without it.

Hidden tests run after that, each in a snapshot that the box took of itself where the test belongs. A snapshot is not
always as good as a run: files, for example, are those at the end. If a hidden test loses a point there, all run
again, in their places in a fresh box.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Ask, Loader, LoadProblem, LoadReport, TimeLeft, put_file, read_file
from viva.examiner.boxes.question import Question
from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import Outcome, judge
from viva.model import Limits, Submission, untrusted
from viva.model.box_source import BoxSource
from viva.model.errors import BoxDied, BoxError, BoxTimeout, GraderError, ProtocolViolation, StudentRaised
from viva.model.seeds import Seeds
from viva.plugins.suites.notebook_outcome import judge_error
from viva.plugins.suites.suite_grader import SuiteGrader
from viva.sandbox.guest.transport.message_types import BeginCells, ResumeSnapshot, RunCell, RunCheck, TakeSnapshot
from viva.submissions.file_names import CODE
from viva.submissions.notebook_cells import Cell, Notebook, NotebookError, read_notebook


@dataclass(frozen=True, slots=True)
class CellTest:
    """One test of a notebook."""

    function: TestFunction
    """The description that tests of other assignments have too, without pytest items."""
    file: str
    """The notebook or test file that contains it."""
    key: str
    """Which of the tests in that file."""
    case: int | None = None
    """The case of a question, from 0; None for a test as a whole."""


def make_test(test_id: str, name: str, number: str, points: Fraction = Fraction(0)) -> TestFunction:
    """Return a visible test that depends on nothing."""
    return TestFunction(
        test_id=test_id,
        name=name,
        number=number,
        points=points,
        visibility="visible",
        tags=(),
        hide_errors=None,
        depends=(),
        gpu=None,
        training=False,
        timeout_s=None,
        leaderboard=None,
    )


class CellLoader(Loader):
    """Puts the student's files into the box, then the author's over them, and reads the notebooks as data."""

    def __init__(self, submission: Submission, assignment: Assignment) -> None:
        super().__init__(submission, assignment, {})
        self._of = assignment
        self.notebooks: dict[str, Notebook] = {}
        """The runnable files, by path in the submission; a module counts as a notebook of one cell."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Put every file in its place.

        Raises:
            BoxError: the box ended.
            GraderError: the author's files cannot be stored.
        """
        report = LoadReport()
        given = self._put(ask, report)
        self._unpack(ask, report, given)
        self._find_code(ask, report)
        self.notebooks = {}
        for path in self._order([p for p in report.files if p.endswith(CODE)]):
            self._read(ask, report, path, given)
        report.loaded = list(self.notebooks) or [p for p in report.files if p.endswith(".ipynb")]
        try:
            for name, place in zip(self._of.data_names, self._of.data, strict=True):
                put_file(ask, self._of.limits.call_s, name, place.read_bytes())
        except StudentRaised as error:
            raise GraderError(f"The assignment's data cannot be put into the box: {error}") from error
        return report

    def _order(self, paths: list[str]) -> list[str]:
        """Return notebooks before modules; those that are not still the starter first, then those with its names."""

        def rank(path: str) -> tuple[bool, bool, bool, bool, int, str]:
            wanted = self._of.submission.asks_for(path)
            unchanged = self.choice.compare(path).is_unchanged
            name = not self.choice.has_given_name(path)
            return path.endswith(".py"), unchanged, name, not wanted, path.count("/"), path

        return sorted(paths, key=rank)

    def _read(self, ask: Ask, report: LoadReport, path: str, given: dict[str, bytes]) -> None:
        limit_s = self._of.limits.call_s
        try:
            data = given[path] if path in given else read_file(ask, limit_s, path)
            if path.endswith(".py"):
                self.notebooks[path] = Notebook((Cell(1, 1, "code", data.decode("utf-8-sig", "replace")),))
                return
            with self.reading():
                self.notebooks[path] = read_notebook(data)
        except (NotebookError, StudentRaised) as error:
            report.problems.append(LoadProblem(path, str(error)))
            return
        report.notebooks[path] = self.notebooks[path]
        report.notes += [f"{path}: {note}" for note in self.notebooks[path].notes]


MAX_BOXES: Final = 4
"""The most boxes to try for one notebook; one of its cells or tests ends each but the last."""
_ENDED: Final = (BoxTimeout, BoxDied, ProtocolViolation)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to run: a cell, or the tests of a question."""

    key: str
    """The key of a test; empty for the student's own cells."""
    number: int = 0
    """The number of the cell, as Jupyter counts."""
    source: str = ""
    before: str = ""
    """Code that runs before the cell, outside it, such as setting a seed."""
    check: str = ""
    """The test that the box runs instead of a cell (otter_checks.py)."""
    again: bool = False
    """Whether to run it here even if the notebook has asked for it already."""
    snapshot: bool = False
    """Whether to take a snapshot before this test, because a part of it is hidden."""
    whole: Mapping[str, object] | None = None
    """In a snapshot, the test with its hidden cases (otter_checks.py)."""


@dataclass(slots=True)
class StepResults:
    """What the box replied to each step, by the step's place; for the others, why they did not run."""

    replies: dict[int, object] = field(default_factory=dict)
    errors: dict[int, BoxError | StudentRaised] = field(default_factory=dict)
    has_unfinished: bool = False
    """Whether one of the student's own cells did not run to its end, perhaps because the machine was busy."""

    def note_unfinished(self, steps: Sequence[Step]) -> None:
        """Look for cells of the student's own that did not run to their end."""
        own = [at for at, step in enumerate(steps) if not step.key]
        self.has_unfinished = any(judge_error(self.errors[at]).doubtful for at in own if at in self.errors) or any(
            untrusted.text(untrusted.table(self.replies.get(at)).get("status"), 20) == "timeout" for at in own
        )

    def judged(self, outcome: Outcome) -> Outcome:
        """Return the outcome of a test; one that is lost for want of what a cell should have made is doubtful."""
        return replace(outcome, doubtful=True) if self.has_unfinished and outcome.status.is_lost else outcome


class NotebookRun:
    """Runs each notebook of one submission in its own box."""

    def __init__(self, session: BoxSession, loader: CellLoader, limits: Limits, cell_s: float) -> None:
        self._session, self._loader, self._limits = session, loader, limits
        self._cell_s = cell_s
        self.asked: list[Question] = []
        self._clean = False
        """Whether the open box has run nothing yet."""
        self._snapshots_of: tuple[str, int] | None = None
        """The notebook of which the open box has snapshots, and the epoch of that box."""

    def find(self) -> CellLoader:
        """Open a box with the submission in it, and return its loader, which knows the notebooks.

        Raises:
            BoxError: as BoxSession.open.
            GraderError: as BoxSession.open.
        """
        before = self._session.generation
        self._begin(self._limits.load_s, hidden=False)
        self._session.open()
        self._clean = self._clean or self._session.generation != before
        return self._loader

    def run(
        self,
        path: str,
        steps: Sequence[Step],
        *,
        hidden: bool,
        seed: int,
        checks: Mapping[str, object] | None = None,
        snapshots: Sequence[str] = (),
    ) -> StepResults:
        """Run the steps in a fresh box.

        Args:
            path: of the notebook in the submission.
            steps: what to run, in order.
            hidden: whether the steps hold what students must not learn; then nothing that the box says reaches them.
            seed: set once, before the first step.
            checks: the tests that the notebook may ask for.
            snapshots: those of them of which the box takes snapshots.

        Raises:
            BoxError: as BoxSession.open; what one step does to its box is not raised.
            GraderError: as BoxSession.open.
        """
        ran = StepResults()
        self._snapshots_of = None
        for _ in range(MAX_BOXES):
            if not self._clean:
                self._session.close()
            self._clean = False
            ran.replies.clear()
            self._begin(self._limits.load_s, hidden=hidden, seed=seed)
            self._session.ask(BeginCells(path, checks, list(snapshots)))
            self.asked += self._session.test.questions
            if self._run_all(steps, ran, hidden=hidden):
                self._snapshots_of = None if hidden else (path, self._session.epoch)
                break
        ran.note_unfinished(steps)
        if not hidden:
            self._tell(path, steps, ran)
        return ran

    def run_in_snapshots(self, path: str, steps: Mapping[int, Step]) -> StepResults | None:
        """Run hidden tests in the snapshots that `run` has left of this notebook.

        Args:
            path: of the notebook in the submission.
            steps: the tests, by their places.

        Returns:
            Their replies; None if a snapshot or a reply is missing: all have to run again.

        Raises:
            GraderError: a test cannot be sent to the box.
        """
        if self._snapshots_of != (path, self._session.epoch):
            return None
        ran = StepResults()
        for at, step in steps.items():
            self._begin(self._limits.test_s, hidden=True)
            try:
                if self._session.ask(ResumeSnapshot(step.key)) is not True:
                    return None
                ran.replies[at] = self._ask(step, hidden=True)
            except (BoxError, StudentRaised):
                return None
        return ran

    def _run_all(self, steps: Sequence[Step], ran: StepResults, *, hidden: bool) -> bool:
        """Run every step; return False if a step ended the box."""
        for at, step in enumerate(steps):
            if at in ran.errors:
                continue
            if self._session.submission_left_s <= 0:
                used = f"your submission had used up its {self._limits.submission_s:g} s"
                ran.errors |= {left: BoxTimeout(f"Not run: {used}.") for left in range(at, len(steps))}
                return True
            try:
                ran.replies[at] = self._ask(step, hidden=hidden)
            except StudentRaised as error:
                ran.errors[at] = error
            except _ENDED as error:
                ran.errors[at] = error
                return False
        return True

    def _ask(self, step: Step, *, hidden: bool) -> object:
        self._begin(self._limits.test_s if step.key else self._cell_s, hidden=hidden)
        limit_s = self._limits.test_s if step.key else self._cell_s
        try:
            if step.whole is not None:
                return self._session.ask(RunCheck(step.check, whole=step.whole))
            if step.check:
                return self._session.ask(RunCheck(step.check, again=step.again))
            if step.snapshot and not hidden:
                self._session.ask(TakeSnapshot(step.key))
            if not step.source:
                return {}
            return self._session.ask(RunCell(step.number, step.source, step.before, limit_s))
        finally:
            self.asked += self._session.test.questions

    def _begin(self, limit_s: float, *, hidden: bool, seed: int | None = None) -> None:
        self._session.begin_test(seed=seed, test_s=limit_s, call_s=limit_s, hidden=hidden)

    def _tell(self, path: str, steps: Sequence[Step], ran: StepResults) -> None:
        """Note above the results which of the student's own cells failed."""
        report = self._session.report
        if report is None:
            return
        for at, step in enumerate(steps):
            if step.key:
                continue
            where = f"cell {step.number} of {path}" if path.endswith(".ipynb") else path
            raised = untrusted.table(untrusted.table(ran.replies.get(at)).get("raised"))
            if raised:
                report.add(where, StudentRaised.from_wire(raised))
            elif at in ran.errors:
                report.problems.append(LoadProblem(where, f"was not run to its end: {ran.errors[at]}"))


class NotebookTests(ABC):
    """Returns an outcome for each test of one submission, whatever the boxes do.

    The box runs the student's notebook with the author's tests in it. The tests are read from the author's files as
    text; none of them runs outside a box. The result of a test is an untrusted value.
    """

    def __init__(self, run: NotebookRun, seed: int) -> None:
        self.run, self.seed = run, seed
        self.asked: list[Question] = []
        self.leader: Any = None

    def outcome(self, test: CellTest) -> Outcome:
        """Return the outcome of a test."""
        self.run.asked = self.asked = []
        try:
            return self._outcome(test)
        except (BoxError, GraderError) as error:
            return judge(error, answered=True)

    @abstractmethod
    def _outcome(self, test: CellTest) -> Outcome:
        """Return the outcome of a test; raise BoxError or GraderError if no box can run it."""


def grade_notebooks(
    assignment: Assignment,
    source: BoxSource,
    secret: bytes,
    tests: Sequence[CellTest],
    begin_tests: Callable[[NotebookRun, int], NotebookTests],
) -> SuiteGrader:
    """Return the grader of a suite whose tests run in notebooks.

    Args:
        assignment: the assignment.
        source: gives boxes.
        secret: the course's secret, from which the seed follows.
        tests: all tests, in the order in which they run.
        begin_tests: makes what runs the tests on one submission, with a seed.
    """
    seeds, limits = Seeds(secret, assignment.name, assignment.version), assignment.limits

    def begin(submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, NotebookTests]:
        loader = CellLoader(submission, assignment)
        session = BoxSession(source, loader, limits, record=record)
        return session, begin_tests(NotebookRun(session, loader, limits, limits.load_s), seeds.box("suite"))

    return SuiteGrader(assignment, seeds, tests, begin)
