"""Grades a submission of an nbgrader assignment: puts the author's cells back in their places, then runs all cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import Outcome
from viva.model import Status
from viva.model.box_source import BoxSource
from viva.model.hand_grading import NOT_GRADED_YET
from viva.plugins.suites.nbgrader.nbgrader_source import (
    FOLDER,
    SourceCell,
    SourceNotebook,
    read_source,
)
from viva.plugins.suites.notebook_outcome import judge_cell, judge_error
from viva.plugins.suites.notebook_run import (
    CellTest,
    NotebookRun,
    NotebookTests,
    Step,
    StepResults,
    grade_notebooks,
    make_test,
)
from viva.plugins.suites.suite_grader import SuiteGrader
from viva.submissions.notebook_cells import Cell, Notebook

MOST_WRITTEN: Final = 100_000
NO_NOTEBOOK: Final = "Not run: your submission holds no notebook `{file}`."
TAKEN_OUT: Final = "Not run: the cell of this test is missing from your notebook."
UNANSWERED: Final = "No answer: the cell is as it was handed out."
NOT_READ: Final = f"{NOT_GRADED_YET}: a person grades this answer."
NOT_FOUND: Final = f"{NOT_GRADED_YET}: a person grades this question. Its cell is not in your notebook."


def start_nbgrader(assignment: Assignment, source: BoxSource, secret: bytes) -> SuiteGrader:
    """Read the author's notebooks as text; return what grades.

    Raises:
        CourseError: one of them cannot be read, or uses what cannot be imported.
    """
    notebooks = read_source(assignment.graders / FOLDER)

    def begin_tests(run: NotebookRun, seed: int) -> NbgraderRun:
        return NbgraderRun(notebooks, run, seed)

    return grade_notebooks(assignment, source, secret, list_tests(notebooks), begin_tests)


def list_tests(notebooks: Sequence[SourceNotebook]) -> list[CellTest]:
    """Return the tests, notebook by notebook, hidden ones last.

    A test that hides a region also runs without it, for no points. One that uses what a hidden region above it
    defines is hidden itself.
    """
    tests: list[CellTest] = []
    for notebook in notebooks:
        of_notebook: list[CellTest] = []
        for cell in notebook.cells.values():
            of_notebook += _tests_of(notebook.file, cell, all_hidden=cell.grade_id in notebook.after_hidden)
        tests += sorted(of_notebook, key=lambda test: test.function.hidden)
    return tests


class NbgraderRun(NotebookTests):
    """One submission; its notebooks run when the first of their tests is requested."""

    def __init__(self, notebooks: Sequence[SourceNotebook], run: NotebookRun, seed: int) -> None:
        super().__init__(run, seed)
        self._notebooks = notebooks
        self._ran: dict[tuple[str, bool], _NotebookResults] = {}

    def _outcome(self, test: CellTest) -> Outcome:
        source = next(n for n in self._notebooks if n.file == test.file)
        key = (test.file, test.function.hidden)
        if key not in self._ran:
            self._ran[key] = self._run(source, hidden=test.function.hidden)
        composed, cell = self._ran[key], source.cells[test.key]
        if composed.notebook is None:
            return Outcome(Status.FAILED, NO_NOTEBOOK.format(file=test.file))
        if cell.is_graded_by_hand:
            return _pending_review(cell, composed.notebook)
        at = composed.places.get(test.key)
        if at is None:
            return Outcome(Status.FAILED, TAKEN_OUT)
        if at in composed.ran.errors:
            return judge_error(composed.ran.errors[at])
        return composed.ran.judged(judge_cell(composed.ran.replies.get(at), cell.points))

    def _run(self, source: SourceNotebook, *, hidden: bool) -> "_NotebookResults":
        path, notebook = self._find_notebook(source)
        if notebook is None:
            return _NotebookResults(None, StepResults(), {})
        steps = compose_steps(notebook, source, hidden=hidden)
        ran = self._in_snapshots(path, steps, source) if hidden and not source.after_hidden else None
        if ran is None:
            ran = self.run.run(path, steps, hidden=hidden, seed=self.seed)
        return _NotebookResults(notebook, ran, {step.key: at for at, step in enumerate(steps) if step.key})

    def _in_snapshots(self, path: str, steps: Sequence[Step], source: SourceNotebook) -> StepResults | None:
        """Return the results of the hidden tests if they ran in snapshots, and all passed there."""
        hidden = {at: step for at, step in enumerate(steps) if step.snapshot}
        ran = self.run.run_in_snapshots(path, hidden)
        if ran is None:
            return None
        outcomes = [judge_cell(ran.replies[at], source.cells[step.key].points) for at, step in hidden.items()]
        return ran if all(outcome.status is Status.PASSED for outcome in outcomes) else None

    def _find_notebook(self, source: SourceNotebook) -> tuple[str, Notebook | None]:
        """Return the notebook of that name, or the first in the loader's order if only one is expected."""
        there = {p: n for p, n in self.run.find().notebooks.items() if p.endswith(".ipynb")}
        if len(self._notebooks) > 1:
            there = {p: n for p, n in there.items() if PurePosixPath(p).name == source.file}
        path = next(iter(there), "")
        return path, there.get(path)


@dataclass(frozen=True, slots=True)
class _NotebookResults:
    notebook: Notebook | None
    ran: StepResults
    places: Mapping[str, int]


def compose_steps(notebook: Notebook, source: SourceNotebook, *, hidden: bool) -> list[Step]:
    """Return what runs for a student's notebook: its cells, with the author's locked cells replacing their own.

    Of several cells with one id the last counts as the author's, as in nbgrader; a missing one is not put back.
    """
    last = {_grade_id(cell): at for at, cell in enumerate(notebook.cells)}
    steps: list[Step] = []
    number = 0
    for at, cell in enumerate(notebook.cells):
        known = source.cells.get(_grade_id(cell)) if last[_grade_id(cell)] == at else None
        kind, text = known.kind if known is not None else cell.kind, cell.source
        if known is not None and known.locked:
            text = known.source if hidden else known.released
        key = known.grade_id if known is not None and known.is_test else ""
        has_hidden = bool(key) and known is not None and known.has_hidden_tests
        if kind == "code" and (text.strip() or has_hidden):
            number += bool(text.strip())
            steps.append(Step(key, number=number, source=text.strip() and text, snapshot=has_hidden))
    return steps


def _grade_id(cell: Cell) -> str:
    about = cell.metadata.get("nbgrader")
    grade_id = about.get("grade_id") if isinstance(about, dict) else None
    return grade_id if isinstance(grade_id, str) else ""


def _tests_of(file: str, cell: SourceCell, *, all_hidden: bool) -> Sequence[CellTest]:
    if not (cell.is_test or cell.is_graded_by_hand):
        return ()
    test_id = f"{file}::{cell.grade_id}"
    test = CellTest(make_test(test_id, cell.grade_id, cell.grade_id, cell.points), file, cell.grade_id)
    has_hidden = cell.is_test and cell.has_hidden_tests
    if not has_hidden and not all_hidden:
        return (test,)
    whole = replace(test, function=_hidden(test.function))
    if not cell.shows_tests or all_hidden:
        return (whole,)
    given = make_test(f"{test_id}#given", f"{cell.grade_id}: the tests that you were given", cell.grade_id)
    return (replace(test, function=given), whole)


def _hidden(function: TestFunction) -> TestFunction:
    return replace(function, visibility="hidden")


def _pending_review(cell: SourceCell, notebook: Notebook) -> Outcome:
    """Leave the answer for a person, unless it is what was handed out, which earns nothing in nbgrader.

    A student who splits the cell makes several of the same id: they are one answer.
    """
    parts = [c.source for c in notebook.cells if _grade_id(c) == cell.grade_id]
    own = [part for part in parts if part.strip() not in ("", cell.released.strip())]
    if not parts:
        return Outcome(Status.NEEDS_REVIEW, NOT_FOUND, rubric=cell.number)
    if cell.task:
        return Outcome(Status.NEEDS_REVIEW, NOT_READ, rubric=cell.number)
    if not own and cell.released.strip() in map(str.strip, parts):
        return Outcome(Status.FAILED, UNANSWERED)
    return Outcome(Status.NEEDS_REVIEW, NOT_READ, written="\n\n".join(own)[:MOST_WRITTEN], rubric=cell.number)
