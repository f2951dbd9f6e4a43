"""An existing unittest suite at the command line, set up as the author guide says."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.run_command import Viva

pytestmark = pytest.mark.long

GUIDE = (Path(__file__).parents[2] / "docs" / "author-guide.md").read_text("utf-8").partition("## 10. ")[2]
SETTINGS = GUIDE.partition("```yaml\n")[2].partition("```")[0]
SIMPLE = """
import unittest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from calculator import Calculator


class TestSimple(unittest.TestCase):
    def setUp(self):
        self.calculator = Calculator()

    @number("1")
    @weight(6)
    def test_add(self):
        '''Evaluate 1 + 1'''
        self.assertEqual(self.calculator.eval("1 + 1"), 2)
"""
HIDDEN = SIMPLE.replace("TestSimple", "TestHidden").replace("@weight(6)", "@weight(4)\n    @visibility('hidden')")
RIGHT = "class Calculator:\n    def eval(self, text):\n        return eval(text)\n"
WRONG = RIGHT.replace("eval(text)", "0")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "course"
    for name, text in {
        "grader.yaml": "course: old\nassignments: [calculator]\n",
        "assignments/calculator/assignment.yaml": SETTINGS,
        "graders/calculator/tests/test_simple.py": SIMPLE,
        "graders/calculator/tests/test_hidden.py": HIDDEN,
        "fixtures/calculator/submissions/accepted/plain/calculator.py": RIGHT,
        "fixtures/calculator/submissions/wrong/zero/calculator.py": WRONG,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    monkeypatch.setenv("VIVA_COURSE", str(root))
    for student, text in (("ada", RIGHT), ("bob", WRONG)):
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "calculator.py").write_text(text, "utf-8")
    return root


def test_a_class_is_graded_and_told_what_its_verdicts_are(viva: Viva, suite: Path, tmp_path: Path) -> None:
    ran = viva("grade", "class/ada", "class/bob", "-o", "results")
    assert (ran.status, ran.err) == (0, "")
    assert (
        "calculator: a unittest suite, which shares its process with the graded code and can be forged by it" in ran.out
    )
    ada, bob = (json.loads((tmp_path / f"results/class/{name}/results.json").read_text()) for name in ("ada", "bob"))
    assert (ada["score"], bob["score"]) == (10, 0)
    assert ada["extra_data"]["signature"]["suite"] == "unittest"
    assert any("graded code cannot forge" in missing for missing in ada["extra_data"]["isolation"]["missing"])
    shown, hidden = bob["tests"]
    assert (shown["name"], shown["number"], shown["output"]) == ("Evaluate 1 + 1", "1", "Test failed: 0 != 2")
    assert (hidden["visibility"], hidden["extra_data"]["test_id"]) == (
        "after_published",
        "test_hidden.py::TestHidden::test_add",
    )


def test_one_submission_says_it_with_its_isolation(viva: Viva, suite: Path) -> None:
    ran = viva("grade", "class/ada")
    assert ran.status == 0 and "10 of 10 points" in ran.out
    assert "unittest tests run in its process" in " ".join(ran.out.split())


def test_a_student_checks_the_visible_tests(viva: Viva, suite: Path) -> None:
    ran = viva("check", "class/bob")
    assert ran.status == 0 and "Evaluate 1 + 1" in ran.out and "0 != 2" in ran.out and "0 of 6 points" in ran.out


def test_known_verdicts_hold_without_a_key(viva: Viva, suite: Path) -> None:
    ran = viva("verify")
    assert (ran.status, ran.err) == (0, ""), ran.out
    (suite / "fixtures/calculator/submissions/accepted/plain/calculator.py").write_text(WRONG)
    ran = viva("verify")
    assert ran.status == 1 and "a right answer lost points" in ran.out
    shutil.rmtree(suite / "fixtures")
    ran = viva("verify")
    assert ran.status == 1 and "nothing here has a known verdict" in ran.sentence()


def test_explain_shows_staff_how_a_test_ended(viva: Viva, suite: Path) -> None:
    ran = viva("explain", "class/bob", "TestHidden::test_add")
    assert "test_hidden.py::TestHidden::test_add: failed" in ran.out and "0 != 2" in ran.out


def test_a_suite_without_its_setting_is_told_of_it(viva: Viva, suite: Path) -> None:
    path = suite / "assignments/calculator/assignment.yaml"
    path.write_text(SETTINGS.replace("suite: unittest\n", ""), "utf-8")
    ran = viva("grade", "class/ada", "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and "`suite: unittest` in assignment.yaml" in ran.sentence()
    assert not Path("result.json").exists()


def test_the_guide_copies_the_suite_to_where_it_is_looked_for() -> None:
    assert "cp -r old_autograder/tests graders/calculator/tests" in GUIDE
