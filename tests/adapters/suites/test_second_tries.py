"""A suite's test that a busy machine may have spoiled is run once more, alone and again; as test_second_try.py says."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from examined import NAME, SECRET, handed_in, statuses
from suite_course import suite_course

from viva.adapters.shared_grader import _TwoTries
from viva.examiner.outcome import Outcome
from viva.model import Status, Tier
from viva.model.grade_request import GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions

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
def test_only_what_is_doubtful_is_run_again(first: list[Outcome], again: list[Outcome], found: list[Outcome]) -> None:
    others = list(again)

    @contextmanager
    def anew() -> Any:
        yield Run(others.pop(0))

    tries = _TwoTries(Run(*first), nullcontext, anew)
    assert [tries.outcome(nullcontext()) for _ in first] == found  # type: ignore[arg-type]
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
def test_a_test_of_a_suite_passes_at_its_second_try(tmp_path: Path, instead: str) -> None:
    settings = "limits: {load_s: 5, call_s: 1, test_s: 1, submission_s: 20}\n"
    course = suite_course(tmp_path / "course", {"test_answer.py": SUITE}, settings=settings).course
    source = SPOILED.format(str(tmp_path / "calls"), instead)
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(Tier.T0)) as process:
        score = process.grade(GradeRequest(handed_in(source))).score
    assert set(statuses(score).values()) == {"passed"}
    assert (tmp_path / "calls").read_text("utf-8") == "xx"
