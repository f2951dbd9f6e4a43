"""Suites of other tools: a unittest suite as the author guide says, courses that `viva import` takes over.

And the way to Gradescope: `viva release A --for gradescope`.
"""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from bench.small_course import notebook
from tests.support.nbgrader_class import CLASS, FILE, write_class
from tests.support.otter_class import autograder
from tests.support.run_command import Viva
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

BEST = next(report.tier for report in detect_tiers() if report.available)
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
    for name, text in {
        "course/grader.yaml": "course: old\nassignments: [calculator]\n",
        "course/assignments/calculator/assignment.yaml": SETTINGS,
        "course/graders/calculator/tests/test_simple.py": SIMPLE,
        "course/graders/calculator/tests/test_hidden.py": HIDDEN,
        "course/fixtures/calculator/submissions/accepted/plain/calculator.py": RIGHT,
        "course/fixtures/calculator/submissions/wrong/zero/calculator.py": WRONG,
        "class/ada/calculator.py": RIGHT,
        "class/bob/calculator.py": WRONG,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setenv("VIVA_COURSE", str(tmp_path / "course"))
    return tmp_path / "course"


@pytest.mark.long
def test_unittest_suite_grades_a_class(viva: Viva, suite: Path) -> None:
    assert "cp -r old_autograder/tests graders/calculator/tests" in GUIDE
    ran = viva("grade", "class/ada", "class/bob", "-o", "results")
    assert (ran.status, ran.err) == (0, "")
    warning = "calculator: a unittest suite, which shares its process with the graded code and can be forged by it"
    assert warning in ran.out
    ada, bob = (json.loads(Path(f"results/class/{name}/results.json").read_text()) for name in ("ada", "bob"))
    assert (ada["score"], bob["score"]) == (10, 0)
    assert ada["extra_data"]["signature"]["suite"] == "unittest"
    assert any("graded code cannot forge" in missing for missing in ada["extra_data"]["isolation"]["missing"])
    visible, hidden = bob["tests"]
    assert (visible["name"], visible["number"], visible["output"]) == ("Evaluate 1 + 1", "1", "Test failed: 0 != 2")
    assert hidden["visibility"] == "after_published"
    assert hidden["extra_data"]["test_id"] == "test_hidden.py::TestHidden::test_add"


@pytest.mark.long
def test_unittest_suite_in_other_commands(viva: Viva, suite: Path) -> None:
    ran = viva("grade", "class/ada")
    assert ran.status == 0 and "10 of 10 points" in ran.out
    assert "unittest tests run in its process" in " ".join(ran.out.split())
    ran = viva("check", "class/bob")
    assert ran.status == 0 and "Evaluate 1 + 1" in ran.out and "0 != 2" in ran.out and "0 of 6 points" in ran.out
    ran = viva("explain", "class/bob", "TestHidden::test_add")
    assert "test_hidden.py::TestHidden::test_add: failed" in ran.out and "0 != 2" in ran.out


@pytest.mark.long
def test_unittest_suite_is_verified_without_a_key(viva: Viva, suite: Path) -> None:
    ran = viva("verify")
    assert (ran.status, ran.err) == (0, ""), ran.out
    (suite / "fixtures/calculator/submissions/accepted/plain/calculator.py").write_text(WRONG)
    ran = viva("verify")
    assert ran.status == 1 and "a right answer lost points" in ran.out
    shutil.rmtree(suite / "fixtures")
    ran = viva("verify")
    assert ran.status == 1 and "nothing here has a known verdict" in ran.sentence()


@pytest.mark.long
def test_unittest_suite_without_its_setting(viva: Viva, suite: Path) -> None:
    path = suite / "assignments/calculator/assignment.yaml"
    path.write_text(SETTINGS.replace("suite: unittest\n", ""), "utf-8")
    ran = viva("grade", "class/ada", "-o", "result.json")
    assert (ran.status, ran.out) == (1, "") and "`suite: unittest` in assignment.yaml" in ran.sentence()
    assert not Path("result.json").exists()


# --- import


@pytest.mark.long
def test_nbgrader_course_is_taken_over(viva: Viva, tmp_path: Path) -> None:
    write_class(tmp_path / "old")
    ran = viva("import", "nbgrader", "old", "--to", "new")
    assert (ran.status, ran.err) == (0, "")
    assert "new: a course with one assignment: ps1." in ran.out and "in the same sandbox as the graded code" in ran.out
    for name in ("right", "partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text(notebook(CLASS[name]), "utf-8")
    ran = viva("grade", "right", "partial", "--course", "new", "-o", "results")
    assert (ran.status, ran.err) == (0, "")
    assert "ps1: an nbgrader suite, which shares its process with the graded code and can be forged by it" in ran.out
    totals = [json.loads(Path(f"results/{n}/results.json").read_text())["score"] for n in ("right", "partial")]
    assert totals == [10, 9]
    assert viva("verify", "--course", "new", "--no-mutants").status == 0
    why = viva("explain", "results/right/results.json", "test_total", "--course", "new")
    assert why.status == 0 and "test_total" in why.out


def test_student_checks_an_imported_assignment(viva: Viva, tmp_path: Path) -> None:
    assert viva("import", "otter", str(autograder(tmp_path)), "--to", "new").status == 0
    Path("hw.ipynb").write_text(notebook([]), "utf-8")
    ran = viva("check", "hw.ipynb", "--course", "new")
    assert ran.status == 0 and "q1 - 1" in ran.out and "q1 - 2" not in ran.out


# --- Gradescope


@pytest.mark.long
def test_zip_for_gradescope(viva: Viva) -> None:
    ran = viva("release", "words", "--for", "gradescope")
    assert ran.status == 0, ran.err
    with zipfile.ZipFile("words-gradescope.zip") as archive:
        assert {"setup.sh", "run_autograder", "course/graders/words/key.py"} <= set(archive.namelist())
    assert "Whoever has it has the key" in ran.out
    if BEST is Tier.T0:
        assert "not tried" in ran.err
    else:
        assert "Grading a right submission took" in ran.out
