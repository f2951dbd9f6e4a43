"""Tests that train: run by `viva grade`, left out by `viva check` and `viva verify` unless they are asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ACCEPTED, RIGHT, SETTINGS_FILE, TESTS, TESTS_FILE, edit, hand_in

pytestmark = pytest.mark.long

TRAINS = '''

@number("3.1")
@weight(3)
@pytest.mark.training
def test_it_learns(student, key):
    """After training, the sum is known."""
    agree(student.total([4, 5]), key.total([4, 5]))
'''
NEVER_LEARNS = RIGHT.replace("    result = 0\n", "    result = 1 if numbers == [4, 5] else 0\n")
FIXTURES = "fixtures/words/submissions"
LEFT_OUT = "Not graded yet: this test trains a model, and tests that train were left out of this run."


@pytest.fixture
def training_course(own_course: Path) -> Path:
    """A course with three points for training on top, and a wrong submission that fails there alone."""
    (own_course / TESTS_FILE).write_text("import pytest\n" + TESTS + TRAINS, "utf-8")
    edit(own_course / SETTINGS_FILE, "points: 10", "points: 13")
    hand_in(own_course / FIXTURES / "accepted/plain", ACCEPTED)
    hand_in(own_course / FIXTURES / "wrong/never_learns", NEVER_LEARNS)
    expect(own_course, "{score: 9, training: 0, failing: [test_it_learns]}")
    return own_course


def expect(course: Path, text: str, accepted: str = "{score: 9, training: 3}") -> None:
    for name, stated in {"wrong/never_learns": text, "accepted/plain": accepted}.items():
        (course / FIXTURES / name / "submission.yaml").write_text(stated, "utf-8")


def graded(viva: Viva, course: Path, source: str, *options: str) -> tuple[dict[str, Any], Any]:
    """The result that was written, and its test that trains."""
    target = course.parent / "result.json"
    ran = viva("grade", hand_in(course.parent / "mine", source), "-o", target, *options)
    assert ran.status == 0 and ran.err == ""
    result = json.loads(target.read_text("utf-8"))
    return result, next(t for t in result["tests"] if t["number"] == "3.1")


def test_grade_trains(viva: Viva, training_course: Path) -> None:
    result, test = graded(viva, training_course, NEVER_LEARNS)
    assert (result["score"], test["status"], test["score"]) == (9, "failed", 0)
    result, test = graded(viva, training_course, NEVER_LEARNS, "--no-training")
    assert "score" not in test and test["output"] == LEFT_OUT and test["extra_data"]["status"] == "deferred"
    assert (result["score"], result["extra_data"]["still_open"]) == (9, "4")


def test_check_leaves_training_out(viva: Viva, training_course: Path) -> None:
    mine = hand_in(training_course.parent / "mine", NEVER_LEARNS)
    ran = viva("check", mine)
    assert "7 of 7 points, 4 more pending" in ran.out and LEFT_OUT in ran.out
    assert "3 points of tests that train (`viva check --training` runs them), " in ran.out
    ran = viva("check", mine, "--training")
    assert "7 of 10 points, 1 more pending" in ran.out and "that train" not in ran.out


def test_verify_counts_what_it_left_out(viva: Viva, training_course: Path) -> None:
    ran = viva("verify", "--no-mutants")
    assert ran.status == 0, ran.out
    assert ran.out.startswith("words: 3 known verdicts hold, 0 do not (isolation T")
    assert ran.out.endswith("; 1 test that trains left out, --training runs them; 1 verdict waits for them).\n")
    assert "… waits   words: wrong/never_learns" in viva("verify", "--no-mutants", "--verbose").out
    ran = viva("verify", "--no-mutants", "--training")
    assert ran.status == 0, ran.out
    assert ran.out.startswith("words: 4 known verdicts hold, 0 do not (isolation T") and "left out" not in ran.out


def test_mutants_are_never_trained(viva: Viva, training_course: Path) -> None:
    """They are stopped after seconds: a test that trains would say nothing about them."""
    tests = training_course / TESTS_FILE
    note = "    with open(__file__ + '.trained', 'a') as file:\n        file.write('x')\n"
    asked = "    agree(student.total([4, 5])"
    edit(tests, asked, note + asked)
    ran = viva("verify", "--training")
    assert "words: 4 known verdicts hold, 0 do not" in ran.out and "broken right answers" in ran.out
    assert tests.with_name("test_words.py.trained").read_text("utf-8") == "xxx"  # points are the fourth verdict
