"""What an author of a suite may write, and what is said where it cannot be."""

from pathlib import Path

import pytest

from tests.support.suite_course import DECORATORS, by_test, suite_course
from viva.config import load_course
from viva.model.errors import CourseError, UsageError
from viva.plugins.suites.unittests.suite_reading import list_modules

ONE = (
    DECORATORS
    + """
from solution import f

class TestF(unittest.TestCase):
    @weight(2)
    def test_f(self):
        self.assertEqual(f(), 1)
"""
)
RIGHT = {"solution.py": "def f(): return 1\n"}


def refusal(root: Path, tests: dict[str, str], **more: str) -> str:
    with pytest.raises(UsageError) as caught:
        suite_course(root, tests, **more).process.open()
    return str(caught.value)


def test_modules_are_those_that_unittest_discovers() -> None:
    files = ["test_b.py", "test_a.py", "helper.py", "test-x.py", "testing.py"]
    files += ["p/__init__.py", "p/test_c.py", "q/test_d.py"]
    assert list_modules(files) == ["p", "p.test_c", "test_a", "test_b", "testing"]


def test_no_folder(tmp_path: Path) -> None:
    assert "tests does not exist: `suite: unittest` expects" in refusal(tmp_path, {})


def test_no_tests(tmp_path: Path) -> None:
    assert "no test was found" in refusal(tmp_path, {"test_a.py": "def test_f(): pass\n"})


def test_missing_library(tmp_path: Path) -> None:
    said = refusal(tmp_path, {"test_a.py": "import parametrised\n" + ONE})
    assert "tests/test_a.py imports `parametrised`, which is neither installed nor next to the suite." in said
    assert "(now: solution.py)" in said


def test_values_of_the_submission_at_import(tmp_path: Path) -> None:
    said = refusal(tmp_path, {"test_a.py": ONE + "\nfor name in f.NAMES: pass\n"})
    assert "tests/test_a.py line 14 " in said and "TypeError: what `NAMES`" in said


@pytest.mark.parametrize(
    ("decorator", "said"),
    [("@visibility('sometimes')", "visibility is 'sometimes'; allowed: visible"), ("@weight(-2)", "weight is -2")],
)
def test_invalid_decorators(tmp_path: Path, decorator: str, said: str) -> None:
    assert said in refusal(tmp_path, {"test_a.py": ONE.replace("@weight(2)", decorator)})


@pytest.mark.parametrize("setting", ["forbid: [numpy]", "load: definitions", "device: cpu"])
def test_settings_without_effect(tmp_path: Path, setting: str) -> None:
    with pytest.raises(CourseError, match=f"{setting.partition(':')[0]}.* has no effect on a suite"):
        suite_course(tmp_path, {"test_a.py": ONE}, settings=setting)


def test_unknown_suite(tmp_path: Path) -> None:
    suite_course(tmp_path, {"test_a.py": ONE})
    (tmp_path / "assignments/small/assignment.yaml").write_text("title: Small\nsuite: nose\n")
    with pytest.raises(CourseError, match="found `nose`, expected 'unittest', 'nbgrader' or 'otter'"):
        load_course(tmp_path).assignment("small")


def test_data_files(tmp_path: Path) -> None:
    """Listed under data:, they win over a student's file of the same name; the key cannot be listed."""
    test = ONE + "\nimport answers_of_old\nassert answers_of_old.N == 1\n"
    (tmp_path / "graders/small").mkdir(parents=True)
    (tmp_path / "graders/small/answers_of_old.py").write_text("N = 1\n")
    (tmp_path / "graders/small/key.py").write_text("")
    examined = suite_course(tmp_path, {"test_a.py": test}, settings="data: [answers_of_old.py]")
    score = examined.score(RIGHT | {"answers_of_old.py": "N = 2\n"})
    examined.process.close()
    assert by_test(score)["test_f"] == ("passed", 2, 2)
    with pytest.raises(CourseError, match="is the answer key, which never goes into a box"):
        suite_course(tmp_path, {"test_a.py": test}, settings="data: [key.py]")


def test_link_out_of_the_suite(tmp_path: Path) -> None:
    (tmp_path / "graders/small/tests").mkdir(parents=True)
    (tmp_path / "graders/small/tests/answers.py").symlink_to(tmp_path / "graders/small/key.py")
    said = refusal(tmp_path, {"test_a.py": ONE}, beside="ANSWER = 42\n")
    assert "tests/answers.py is a link" in said and "ANSWER" not in said


def test_modules_of_the_starter(tmp_path: Path) -> None:
    """Also one that is named like a module of Python's own, and one that tests derive classes from."""
    starter = tmp_path / "assignments/small/starter"
    (starter / "shapes").mkdir(parents=True)
    (starter / "queue.py").write_text("")
    test = (
        DECORATORS
        + """
from queue import Mine
from shapes.round import Circle
from solution import *

class Wider(Circle):
    pass

class TestThem(unittest.TestCase):
    @weight(1)
    def test_them(self):
        self.assertEqual((Mine, Wider.n, f()), (3, 4, 1))
"""
    )
    examined = suite_course(tmp_path, {"test_a.py": test})
    shapes = {"shapes/round.py": "class Circle:\n    n = 4\n", "queue.py": "Mine = 3\n"}
    score = examined.score(RIGHT | shapes)
    examined.process.close()
    assert by_test(score)["test_them"] == ("passed", 1, 1), score


def test_condition_at_import(tmp_path: Path) -> None:
    """When the suite is read, what a submission may have is taken to be there, so that its points are counted."""
    test = (
        DECORATORS
        + """
import solution

class TestMore(unittest.TestCase):
    @weight(1)
    @unittest.skipUnless(hasattr(solution, "more") and solution.more, "only with more")
    def test_more(self):
        self.assertEqual(solution.more(), 2)
"""
    )
    examined = suite_course(tmp_path, {"test_a.py": test})
    with_more, without = examined.score({"solution.py": "def more(): return 2\n"}), examined.score(RIGHT)
    examined.process.close()
    assert by_test(with_more)["test_more"] == ("passed", 1, 1)
    assert by_test(without)["test_more"] == ("skipped", 0, 1)
    assert without.entries[0].message == "Skipped by the test itself: only with more"


def test_attributes_of_tests(tmp_path: Path) -> None:
    test = (
        DECORATORS
        + """
from solution import f

class TestF(unittest.TestCase):
    @weight(0.1)
    @number("1.1")
    @tags("a", "b")
    def test_b(self):
        '''F is
        a function.'''

    @visibility("hidden")
    @partial_credit(2)
    @hide_errors()
    def test_a(self, set_score=None):
        raise ValueError(f())
"""
    )
    examined = suite_course(tmp_path, {"test_x.py": test})
    first, second = examined.score(RIGHT).entries
    examined.process.close()
    assert (second.test_id, second.name) == ("test_x.py::TestF::test_b", "F is")
    assert (second.number, second.tags, str(second.points)) == ("1.1", ("a", "b"), "1/10")
    assert (first.name, first.visibility, first.hide_errors) == (
        "test_a (test_x.TestF.test_a)",
        "hidden",
        "Test failed",
    )
    assert first.message == "This test is hidden: what it asks and what went wrong is not shown."
    assert "ValueError: 1" in first.staff_message
