"""Grades a submission of an otter assignment: its cells, then every test that no cell has asked for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from viva.config import Assignment
from viva.config.rubric import Question
from viva.examiner.outcome import Outcome
from viva.model import Status, untrusted
from viva.model.box_source import BoxSource
from viva.model.errors import CourseError
from viva.model.hand_grading import NOT_GRADED_YET
from viva.plugins.suites.notebook_outcome import judge_case, judge_error
from viva.plugins.suites.notebook_run import (
    CellTest,
    NotebookRun,
    NotebookTests,
    Step,
    StepResults,
    grade_notebooks,
    make_test,
)
from viva.plugins.suites.otter.otter_files import FOLDER, OtterCase, OtterTest, read_tests
from viva.plugins.suites.suite_grader import SuiteGrader
from viva.submissions.notebook_cells import Notebook

CONFIG: Final = "otter_config.json"
NO_NOTEBOOK: Final = "Not run: your submission holds neither a notebook nor a Python file."
NOT_ALL: Final = "Nothing, because not every test of this question passed."
PENDING_REVIEW: Final = f"{NOT_GRADED_YET}: a person grades this question."
NOT_TOLD: Final = "The test ended without saying how."
_METADATA: Final = "otter"
_IGNORED: Final = "otter_ignore"


@dataclass(frozen=True, slots=True)
class OtterSuite:
    """An assignment that has been read."""

    questions: tuple[OtterTest, ...]
    seed: int | None
    seed_variable: str | None
    hidden: str
    """The visibility of hidden cases."""
    scale: Fraction
    """The factor for all points that makes them add up to the assignment's total."""
    graded_by_hand: tuple[Question, ...] = ()
    """The questions of the rubric."""

    @property
    def tests(self) -> tuple[CellTest, ...]:
        """Return the tests, hidden cases last; an all-or-nothing question gives its points after its last case."""
        tests = [test for question in self.questions for test in self._make_tests(question)]
        tests += [CellTest(make_test(q.number, q.title, q.number, q.points), "", q.number) for q in self.graded_by_hand]
        return tuple(sorted(tests, key=lambda test: test.function.hidden))

    def _make_tests(self, question: OtterTest) -> Sequence[CellTest]:
        cases = [self._case(question, at, case) for at, case in enumerate(question.cases)]
        if not question.all_or_nothing:
            return cases
        name = f"{question.name}: every test, or nothing"
        whole = make_test(f"{FOLDER}/{question.file}.py::all", name, question.name, self.scale * question.points)
        function = replace(whole, visibility=self.hidden) if question.has_hidden else whole
        return [*cases, CellTest(function, question.file, question.file)]

    def _case(self, question: OtterTest, at: int, case: OtterCase) -> CellTest:
        points = Fraction(0) if question.all_or_nothing else self.scale * case.points
        test = make_test(f"{FOLDER}/{question.file}.py::{at + 1}", case.name, question.name, points)
        return CellTest(replace(test, visibility=self.hidden) if case.hidden else test, question.file, case.name, at)


def read_otter(assignment: Assignment) -> OtterSuite:
    """Read the tests of graders/<a>/tests, the settings of otter_config.json next to them, and the rubric.

    Raises:
        CourseError: one of them is wrong, or uses what cannot be imported.
    """
    questions, path = read_tests(assignment.graders / FOLDER), assignment.graders / CONFIG
    config = read_config(path)
    total = sum((q.points for q in questions), Fraction(0))
    possible = config.get("points_possible")
    scale = Fraction(str(possible)) / total if possible is not None and total else Fraction(1)
    hidden = "after_published" if config.get("show_hidden") else "hidden"
    graded_by_hand = assignment.rubric().questions
    return OtterSuite(questions, config.get("seed"), config.get("seed_variable"), hidden, scale, graded_by_hand)


def read_config(path: Path) -> dict[str, Any]:
    """Read otter_config.json; return nothing if there is none.

    Raises:
        CourseError: it is not a JSON object, or uses what cannot be imported.
    """
    if not path.is_file():
        return {}
    try:
        config = json.loads(path.read_bytes()[: 1 << 20])
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise CourseError(f"{path} is not a JSON object: expected otter's settings.")
    for key, allowed, why in (
        ("lang", ("python", None), "only Python is run"),
        ("grade_from_log", (False, None), "what a log says of a student's variables is not rebuilt"),
        ("plugins", ([], None), "plugins of otter's are not run"),
        ("score_threshold", (None,), "a total that passes or fails as a whole is not made"),
    ):
        if config.get(key) not in allowed:
            raise CourseError(f"{path}: `{key}` cannot be taken over, because {why}; take it out, and import again.")
    for key, kinds, words in (
        ("seed", (int,), "a whole number"),
        ("seed_variable", (str,), "a variable's name"),
        ("points_possible", (int, float), "a number of points"),
    ):
        if config.get(key) is not None and type(config[key]) not in kinds:
            raise CourseError(f"{path}: `{key}` is {config[key]!r:.40}; expected {words}.")
    if config.get("seed_variable") is not None and not config["seed_variable"].isidentifier():
        raise CourseError(f"{path}: `seed_variable` is {config['seed_variable']!r:.40}; expected a variable's name.")
    return config


def start_otter(assignment: Assignment, source: BoxSource, secret: bytes) -> SuiteGrader:
    """Read the author's tests as text; return what grades.

    Raises:
        CourseError: one of them cannot be read, or uses what cannot be imported.
    """
    suite = read_otter(assignment)

    def begin_tests(run: NotebookRun, seed: int) -> OtterRun:
        return OtterRun(suite, run, seed)

    return grade_notebooks(assignment, source, secret, suite.tests, begin_tests)


class OtterRun(NotebookTests):
    """One submission; its notebook runs for the first test, and once more if a hidden case is lost."""

    def __init__(self, suite: OtterSuite, run: NotebookRun, seed: int) -> None:
        super().__init__(run, seed)
        self.suite = suite
        self._ran: dict[bool, tuple[StepResults, dict[str, int]] | None] = {}

    def _outcome(self, test: CellTest) -> Outcome:
        if not test.file:
            return Outcome(Status.NEEDS_REVIEW, PENDING_REVIEW, rubric=test.key)
        hidden = test.function.hidden
        if hidden not in self._ran:
            self._ran[hidden] = self._run(hidden=hidden)
        found = self._ran[hidden]
        if found is None:
            return Outcome(Status.FAILED, NO_NOTEBOOK)
        ran, places = found
        question = next(q for q in self.suite.questions if q.file == test.file)
        at = places[question.file]
        if at in ran.errors:
            return judge_error(ran.errors[at])
        asked = [number for number, case in enumerate(question.cases) if hidden or not case.hidden]
        case_results = untrusted.rows(ran.replies.get(at))
        if len(case_results) != len(asked):
            return Outcome(Status.ERROR, NOT_TOLD)
        if test.case is None:
            won = _passed_all(case_results)
            return Outcome(Status.PASSED) if won else ran.judged(Outcome(Status.FAILED, NOT_ALL))
        case, reply = question.cases[test.case], case_results[asked.index(test.case)]
        return ran.judged(judge_case(reply, success=case.success, failure=case.failure))

    def _run(self, *, hidden: bool) -> tuple[StepResults, dict[str, int]] | None:
        notebooks = self.run.find().notebooks
        if not notebooks:
            return None
        path, notebook = next(iter(notebooks.items()))
        steps = self._steps(notebook)
        first = len(steps) - len(self.suite.questions)
        places = {question.file: first + at for at, question in enumerate(self.suite.questions)}
        ran = self._in_snapshots(path, places) if hidden else None
        if ran is None:
            checks = {q.file: q.whole if hidden else q.public for q in self.suite.questions}
            snapshots = [] if hidden else [q.file for q in self._with_hidden]
            ran = self.run.run(path, steps, hidden=hidden, seed=self.seed, checks=checks, snapshots=snapshots)
        return ran, places

    def _in_snapshots(self, path: str, places: Mapping[str, int]) -> StepResults | None:
        """Return the results of the questions with hidden cases if they ran in snapshots and lost nothing."""
        steps = {places[q.file]: Step(q.file, check=q.file, whole=q.whole) for q in self._with_hidden}
        ran = self.run.run_in_snapshots(path, steps)
        if ran is None:
            return None
        for question in self._with_hidden:
            cases = untrusted.rows(ran.replies[places[question.file]])
            if len(cases) != len(question.cases) or not _passed_all(cases):
                return None
        return ran

    @property
    def _with_hidden(self) -> list[OtterTest]:
        """Return the questions with hidden cases."""
        return [question for question in self.suite.questions if question.has_hidden]

    def _steps(self, notebook: Notebook) -> list[Step]:
        steps: list[Step] = []
        names = {question.file for question in self.suite.questions}
        for cell in notebook.cells:
            about = cell.metadata.get(_METADATA)
            about = about if isinstance(about, dict) else {}
            if about.get("ignore") or _IGNORED in untrusted.rows(cell.metadata.get("tags")):
                continue
            if cell.number:
                steps.append(Step("", number=cell.number, source=cell.source, before=self._seeding()))
            for name in untrusted.rows(about.get("tests"))[:100]:
                if name in names:  # otter checks here what no cell of the notebook checks
                    steps.append(Step(str(name), check=str(name), again=True))
        return [*steps, *(Step(question.file, check=question.file) for question in self.suite.questions)]

    def _seeding(self) -> str:
        if self.suite.seed is None:
            return ""
        if self.suite.seed_variable is not None:
            return f"{self.suite.seed_variable} = {self.suite.seed}"
        return f"__import__('numpy').random.seed({self.suite.seed}); __import__('random').seed({self.suite.seed})"


def _passed_all(cases: Sequence[object]) -> bool:
    return all(untrusted.table(case).get("passed") is True for case in cases)
