"""Outcomes of a suite that gradescope_utils' own runner gets wrong or loses."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined
from tests.support.suite_course import DECORATORS, by_test, suite_course
from viva.formats.results_json import to_json
from viva.model import Score

pytestmark = pytest.mark.long

TESTS = {
    "test_points.py": DECORATORS
    + """
from solution import value

class TestPoints(unittest.TestCase):
    @partial_credit(10)
    def test_too_many(self, set_score=None):
        set_score(99)

    @partial_credit(10)
    def test_less_than_none(self, set_score=None):
        set_score(-5)

    @partial_credit(10)
    def test_subtests_after_points(self, set_score=None):
        set_score(4)
        with self.subTest("three"):
            self.assertEqual(value(), 3)

    @weight(2)
    @unittest.expectedFailure
    def test_unexpected(self):
        self.assertEqual(value(), 1)

    @weight(3)
    @leaderboard("speed")
    def test_leaderboard(self, set_leaderboard_value=None):
        set_leaderboard_value(value())

    @weight(3)
    @leaderboard("raised")
    def test_leaderboard_raises(self, set_leaderboard_value=None):
        raise ValueError("no place")

    @weight(1)
    @hide_errors("Hidden.")
    def test_hides_errors(self):
        print("the answer is 42")
        self.assertEqual(value(), 42)
""",
    "test_shared.py": DECORATORS
    + """
from solution import value

class Common:
    @partial_credit(5)
    def test_part(self, set_score=None):
        if self.gives:
            set_score(5)
        self.fail("not now")

class TestFirst(Common, unittest.TestCase):
    gives = True

class TestSecond(Common, unittest.TestCase):
    gives = False
""",
}
SOLUTION = {"solution.py": "def value(): return 1\n"}


@pytest.fixture(scope="module")
def score(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Score]:
    examined = suite_course(tmp_path_factory.mktemp("outcomes"), TESTS)
    yield examined.score(SOLUTION)
    examined.process.close()


OUTCOMES: dict[str, tuple[str, Fraction | int]] = {
    "test_points.py::TestPoints::test_too_many": ("passed", 10),
    "test_points.py::TestPoints::test_less_than_none": ("failed", 0),
    "test_points.py::TestPoints::test_subtests_after_points": ("partial", 4),
    "test_points.py::TestPoints::test_unexpected": ("failed", 0),
    "test_points.py::TestPoints::test_leaderboard": ("passed", 3),
    "test_points.py::TestPoints::test_leaderboard_raises": ("error", 0),
    "test_points.py::TestPoints::test_hides_errors": ("failed", 0),
    "test_shared.py::TestFirst::test_part": ("partial", 5),
    "test_shared.py::TestSecond::test_part": ("failed", 0),  # points of another class do not leak
}


NOT_A_NUMBER = {
    "test_nan.py": DECORATORS
    + """
from solution import value

class TestNan(unittest.TestCase):
    @partial_credit(10)
    def test_nan(self, set_score=None):
        set_score(value())
"""
}


def test_every_test_has_its_outcome(score: Score) -> None:
    assert {entry.test_id: (str(entry.status), entry.earned) for entry in score.entries} == OUTCOMES


def test_messages_and_leaderboard_are_those_of_the_suite(score: Score) -> None:
    entries = {entry.test_id.rpartition("::")[2]: entry for entry in score.entries}
    assert entries["test_subtests_after_points"].message == "[three] Test failed: 1 != 3"
    assert entries["test_hides_errors"].message == "Hidden."
    assert "the answer is 42" in entries["test_hides_errors"].staff_message
    assert [(row.name, row.value, row.order) for row in score.leaderboard] == [("speed", 1, "desc")]


def test_points_that_are_no_number(tmp_path: Path) -> None:
    """The other runner passes the test and writes a file that is not JSON."""
    examined = suite_course(tmp_path / "course", NOT_A_NUMBER)
    score = examined.score({"solution.py": "def value(): return float('nan')\n"})
    examined.process.close()
    assert by_test(score)["test_nan"] == ("failed", 0, 10)
    assert b"NaN" not in to_json(score)


SET_UP = {
    "test_a.py": DECORATORS
    + """
import solution

class TestA(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.value = solution.value()

    @weight(1)
    def test_one(self):
        self.assertEqual(self.value, 1)

    @weight(1)
    def test_two(self):
        pass

class TestB(unittest.TestCase):
    @weight(2)
    def test_b(self):
        pass
""",
    "test_b.py": DECORATORS
    + """
import solution

def setUpModule():
    solution.value()

class TestC(unittest.TestCase):
    @weight(4)
    def test_c(self):
        pass
""",
    "test_c.py": DECORATORS
    + """
class TestD(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise ValueError("too late")

    @weight(8)
    def test_d(self):
        pass
""",
}


@pytest.mark.parametrize("raises", ["ValueError('mine')", "SystemExit(1)", "unittest.SkipTest('mine')"])
def test_failing_set_up(tmp_path: Path, raises: str) -> None:
    """The other runner crashes and writes nothing; here it costs the tests of that class or module."""
    solution = {"solution.py": f"import unittest\ndef value(): raise {raises}\n"}
    examined = suite_course(tmp_path / "course", SET_UP)
    score = examined.score(solution)
    examined.process.close()
    status = "skipped" if "Skip" in raises else "error"
    assert by_test(score) == {
        "test_one": (status, 0, 1),
        "test_two": (status, 0, 1),
        "test_b": ("passed", 2, 2),
        "test_c": (status, 0, 4),
        "test_d": ("passed", 8, 8),
    }
    assert ("mine" in score.entries[0].message) == ("mine" in raises)


def test_submissions_are_independent(tmp_path: Path) -> None:
    """What one submission leaves behind, the next does not find."""
    examined: Examined = suite_course(tmp_path, TESTS)
    before = by_test(examined.score(SOLUTION))
    examined.score({"solution.py": "import unittest\nunittest.TestCase.run = None\ndef value(): return 42\n"})
    assert by_test(examined.score(SOLUTION)) == before
    examined.process.close()
