"""What is wrong with a course is one sentence and no result, for a result would blame the student."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEY_FILE, SETTINGS_FILE, TESTS_FILE, edit, hand_in

Change = Callable[[Path], object]


def replace(file: str, old: str, new: str) -> Change:
    return lambda course: edit(course / file, old, new)


def remove(file: str) -> Change:
    return lambda course: (course / file).unlink()


BROKEN: dict[str, tuple[Change, list[str]]] = {
    "unknown key": (replace(SETTINGS_FILE, "title", "tilte"), ["assignment.yaml:1: tilte: there is no such key"]),
    "no assignment.yaml": (remove(SETTINGS_FILE), ["lists the assignment `words`", "does not exist"]),
    "no key": (remove(KEY_FILE), ["key.py: there is no answer key"]),
    "no test": (remove(TESTS_FILE), ["no test was found; expected functions test_"]),
    "syntax": (replace(TESTS_FILE, "def test_total(", "def test_total"), [f"{TESTS_FILE} line 24", "SyntaxError"]),
    "conftest": (
        lambda course: (course / "graders/words/conftest.py").write_text("1/0"),
        ["cannot be collected", "Zero"],
    ),
    "preload": (replace(SETTINGS_FILE, "numpy", "nowhere"), ["has no module `nowhere`", "take it off the list"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_course(viva: Viva, own_course: Path, case: str) -> None:
    change, said = BROKEN[case]
    change(own_course)
    ran = viva("grade", hand_in(own_course.parent / "right"), "-o", "result.json")
    assert (ran.status, ran.out) == (1, "")
    for words in said:
        assert words in ran.sentence()
    assert not Path("result.json").exists()


def test_points_that_do_not_add_up(viva: Viva, own_course: Path) -> None:
    edit(own_course / SETTINGS_FILE, "points: 10", "points: 12")
    ran = viva("grade", hand_in(own_course.parent / "right"))
    assert ran.status == 0 and "9 of 9 points, 1 more pending" in ran.out
    assert "words: the tests add up to 10 points" in ran.sentence() and "says 12" in ran.sentence()


def test_examiner_that_ends_at_its_start(viva: Viva, own_course: Path) -> None:
    edit(own_course / TESTS_FILE, "from viva", "import os; os._exit(3)\nfrom viva")
    ran = viva("grade", hand_in(own_course.parent / "right"), "-o", "result.json")
    assert ran.status == 2 and "ended before it was ready" in ran.sentence()
    assert not Path("result.json").exists()


def test_examiner_that_is_not_ready_in_time(viva: Viva, own_course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for a processor hardly counts; computing and sleeping do."""
    monkeypatch.setattr("viva.pipeline.process.examiner_process.START_S", 0.3)
    edit(own_course / TESTS_FILE, "from viva", "import time; time.sleep(1000)\nfrom viva")
    ran = viva("grade", hand_in(own_course.parent / "right"))
    assert ran.status == 2 and "was not ready within 0.3 s" in ran.sentence()


def test_fault_of_the_grader(viva: Viva, own_course: Path) -> None:
    edit(own_course / TESTS_FILE, "    agree(student.total", "    1 / 0\n    agree(student.total")
    ran = viva("verify")
    assert ran.status == 1 and "test_total is a grader error: ZeroDivisionError: division by zero" in ran.out
    right = hand_in(own_course.parent / "right")
    ran = viva("grade", right)
    assert ran.status == 2
    assert ran.err == "viva: 1 test is not graded yet because something went wrong on the grader's side.\n"
    assert "no points are lost" in ran.out and "ZeroDivisionError" in ran.out
    ran = viva("check", right)
    assert ran.status == 2 and "ZeroDivisionError" not in ran.out
