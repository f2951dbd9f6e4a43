"""Runs a notebook's cells, and the tests between or after them, once and in order, in one box.

Each is a separate request, so that only a step that ends its box is lost: the others run again without it.

Hidden tests run after that, each in a snapshot that the box took of itself where the test belongs. A snapshot is not
always as good as a run: files, for example, are those at the end. If only a hidden test loses a point there, all run
again, in their places in a fresh box.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import LoadProblem
from viva.examiner.boxes.question import Question
from viva.examiner.outcome import Outcome
from viva.model import Limits, untrusted
from viva.model.errors import BoxDied, BoxError, BoxTimeout, ProtocolViolation, StudentRaised
from viva.plugins.suites.cells.cell_loader import CellLoader
from viva.plugins.suites.cells.cell_outcome import of_error
from viva.sandbox.guest.transport.message_types import BeginCells, ResumeSnapshot, RunCell, RunCheck, TakeSnapshot

MOST_BOXES: Final = 4
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
        self.has_unfinished = any(of_error(self.errors[at]).doubtful for at in own if at in self.errors) or any(
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
        for _ in range(MOST_BOXES):
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

    def run_in_snapshots(
        self, path: str, steps: Mapping[int, Step], is_certain: Callable[[Step, object], bool]
    ) -> StepResults | None:
        """Run hidden tests in the snapshots that `run` has left of this notebook.

        Args:
            path: of the notebook in the submission.
            steps: the tests, by their places.
            is_certain: tells of a test and its reply whether a run of the whole notebook cannot change the outcome.

        Returns:
            Their replies; None if a snapshot is missing, or a reply is missing or not certain: all have to run again.

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
            if not is_certain(step, ran.replies[at]):
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
