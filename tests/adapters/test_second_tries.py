"""A suite's test that a busy machine may have disturbed is retried once, as any other test is."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from bench.small_course import notebook
from tests.support.course_of_texts import NAME, SECRET, handed_in, statuses
from tests.support.nbgrader_class import FILE, POINTS, write_class
from tests.support.nbgrader_class import handed_in as handed_in_cells
from tests.support.suite_course import suite_course
from viva.config import load_course
from viva.examiner.outcome import Outcome
from viva.model import Status, Tier
from viva.model.grade_request import GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.suites.importing.new_course import write_course
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader
from viva.plugins.suites.suite_grader import RetriedRun

pytestmark = pytest.mark.long

LATE = Outcome(Status.TIMEOUT, doubtful=True)
OVER = Outcome(Status.TIMEOUT)
PASSED = Outcome(Status.PASSED)


class Run:
    """Ends as it is told."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.asked: list[Any] = []
        self.leader: Any = None

    def outcome(self, _test: Any) -> Outcome:
        return self._outcomes.pop(0)


@pytest.mark.parametrize(
    ("first", "again", "found"),
    [
        ([LATE, PASSED], [PASSED], [PASSED, PASSED]),
        ([LATE], [LATE], [LATE]),
        ([OVER], [], [OVER]),
        ([LATE] * 5, [LATE] * 3, [LATE] * 5),
        ([LATE] * 5, [PASSED] * 5, [PASSED] * 5),
    ],
)
def test_doubtful_outcomes_are_retried(first: list[Outcome], again: list[Outcome], found: list[Outcome]) -> None:
    others = list(again)

    @contextmanager
    def anew() -> Any:
        yield Run(others.pop(0))

    tries = RetriedRun(Run(*first), nullcontext, anew)
    assert [tries.outcome(nullcontext()) for _ in first] == found  # type: ignore[arg-type]  # a run is opened by its context alone
    assert others == []


SUITE = """
import unittest
from solution import answer

class TestAnswer(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(answer(), 1)
"""
SPOILED = """
def answer():
    with open({!r}, "a+") as file:
        file.write("x")
        times = file.tell()
    if times == 1:
        {}
    return 1
"""


@pytest.mark.parametrize("instead", ["while True: pass", "import os; os._exit(3)"])
def test_suite_is_retried(tmp_path: Path, instead: str) -> None:
    settings = "limits: {load_s: 5, call_s: 1, test_s: 1, submission_s: 20}\n"
    course = suite_course(tmp_path / "course", {"test_answer.py": SUITE}, settings=settings).course
    source = SPOILED.format(str(tmp_path / "calls"), instead)
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(Tier.T0)) as process:
        score = process.grade(GradeRequest(handed_in(source))).score
    assert set(statuses(score).values()) == {"passed"}
    assert (tmp_path / "calls").read_text("utf-8") == "xx"


def test_cell_is_retried(tmp_path: Path) -> None:
    write_class(tmp_path)
    write_course(tmp_path / "course", "old", import_nbgrader(tmp_path))
    course = load_course(tmp_path / "course")
    assignment = course.assignment(course.assignments[0])
    settings = assignment.folder / "assignment.yaml"
    settings.write_text(settings.read_text("utf-8").replace("_s: 30", "_s: 1"), "utf-8")
    course = load_course(tmp_path / "course")
    spoiled = SPOILED.format(str(tmp_path / "calls"), "while True: pass")
    files = {
        FILE: notebook(handed_in_cells(total=f"{spoiled}\nanswer()\ndef total(numbers):\n    return sum(numbers)"))
    }
    with ExaminerProcess(course, course.assignment(assignment.name), SECRET, BoxOptions(Tier.T0)) as process:
        score = process.grade(GradeRequest(handed_in(files))).score
    earned = {entry.number: entry.earned for entry in score.entries if entry.number in POINTS and entry.points}
    assert earned == POINTS, score.entries
