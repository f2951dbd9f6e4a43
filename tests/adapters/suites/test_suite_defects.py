"""What gradescope_utils' own runner gets wrong on the same suite, shown next to it, is right here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined
from tests.support.suite_course import DECORATORS, Original, by_test, original, suite_course
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
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory.mktemp("original") / "source", TESTS, SOLUTION)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Score]:
    examined = suite_course(tmp_path_factory.mktemp("defects"), TESTS)
    yield examined.score(SOLUTION)
    examined.process.close()


def told(theirs: Original, method: str) -> dict[str, object] | None:
    return next((test for name, test in theirs.tests.items() if name.startswith(f"{method} ")), None)


def test_points_are_clamped(theirs: Original, ours: Score) -> None:
    assert (told(theirs, "test_too_many") or {})["score"] == 99
    assert (told(theirs, "test_less_than_none") or {})["score"] == -5
    assert by_test(ours)["test_too_many"] == ("passed", 10, 10)
    assert by_test(ours)["test_less_than_none"] == ("failed", 0, 10)


def test_a_failed_subtest_does_not_take_the_test_away(theirs: Original, ours: Score) -> None:
    assert told(theirs, "test_subtests_after_points") is None
    assert by_test(ours)["test_subtests_after_points"] == ("partial", 4, 10)
    entry = next(e for e in ours.entries if e.test_id.endswith("subtests_after_points"))
    assert entry.message == "[three] Test failed: 1 != 3"


def test_an_unexpected_success_is_told(theirs: Original, ours: Score) -> None:
    assert told(theirs, "test_unexpected") is None
    assert by_test(ours)["test_unexpected"] == ("failed", 0, 2)


def test_leaderboards_have_points_and_errors(theirs: Original, ours: Score) -> None:
    assert theirs.results is not None
    assert theirs.results["leaderboard"][1] == {"name": "raised", "value": None, "order": "desc"}
    assert told(theirs, "test_leaderboard") is None
    assert [(x.name, x.value, x.order) for x in ours.leaderboard] == [("speed", 1, "desc")]
    assert by_test(ours)["test_leaderboard"] == ("passed", 3, 3)
    assert by_test(ours)["test_leaderboard_raises"] == ("error", 0, 3)


def test_hidden_errors_hide_what_was_printed(theirs: Original, ours: Score) -> None:
    assert "the answer is 42" in str((told(theirs, "test_hides_errors") or {})["output"])
    entry = next(e for e in ours.entries if e.test_id.endswith("hides_errors"))
    assert entry.message == "Hidden."
    assert "the answer is 42" in entry.staff_message


def test_points_do_not_leak_into_another_class(theirs: Original, ours: Score) -> None:
    scores = [test.get("score") for name, test in theirs.tests.items() if name.startswith("test_part ")]
    assert scores == [5, 5]
    shared = [e.earned for e in ours.entries if e.test_id.startswith("test_shared.py")]
    assert shared == [5, 0]


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


def test_points_that_are_no_number(tmp_path: Path) -> None:
    """PersonAttempt passes, with a file that is not JSON; ours loses the points."""
    solution = {"solution.py": "def value(): return float('nan')\n"}
    theirs = original(tmp_path / "original", NOT_A_NUMBER, solution)
    assert theirs.results is not None and theirs.tests.popitem()[1]["status"] == "passed"
    with pytest.raises(ValueError, match="NaN"):
        json.loads(json.dumps(theirs.results), parse_constant=_refuse)
    examined = suite_course(tmp_path / "course", NOT_A_NUMBER)
    score = examined.score(solution)
    examined.process.close()
    assert by_test(score)["test_nan"] == ("failed", 0, 10)
    json.loads(to_json(score), parse_constant=_refuse)


def _refuse(constant: str) -> float:
    raise ValueError(constant)


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
def test_a_class_or_module_that_cannot_be_set_up(tmp_path: Path, raises: str) -> None:
    """PersonAttempt crashes and writes nothing; here it costs the tests of that class or module."""
    solution = {"solution.py": f"import unittest\ndef value(): raise {raises}\n"}
    assert original(tmp_path / "original", SET_UP, solution).results is None
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


def test_a_student_cannot_use_up_a_later_submission(tmp_path: Path) -> None:
    """What one submission leaves behind, the next does not find."""
    examined: Examined = suite_course(tmp_path, TESTS)
    before = by_test(examined.score(SOLUTION))
    examined.score({"solution.py": "import unittest\nunittest.TestCase.run = None\ndef value(): return 42\n"})
    assert by_test(examined.score(SOLUTION)) == before
    examined.process.close()
