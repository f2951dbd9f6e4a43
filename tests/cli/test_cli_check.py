"""`viva check`: what a student sees before submitting."""

import shutil
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in, hand_in_notebook


def test_the_public_tests_are_asked_and_the_rest_is_named(viva: Viva, tmp_path: Path) -> None:
    ran = viva("check", hand_in(tmp_path / "mine"))
    assert (ran.status, ran.err) == (0, "")
    assert "7 of 7 points, 1 more pending" in ran.out
    assert "Random texts" not in ran.out and "isolation" not in ran.out
    assert ran.out.endswith("Not included: 2 points of hidden tests, 1 point graded by hand.\n")


def test_a_mistake_is_shown_where_it_is(viva: Viva, tmp_path: Path) -> None:
    ran = viva("check", hand_in(tmp_path / "mine", KEEPS_CASE))
    assert ran.status == 0  # marks are not an error
    assert "✗ failed" in ran.out and "word_counts('The cat and the hat')" in ran.out
    mine = hand_in_notebook(
        tmp_path / "notebook", *RIGHT.replace("result += number", "result += nmber").split("\n\n\n")
    )
    ran = viva("check", mine)
    said = " ".join(ran.out.split())
    assert "NameError: name 'nmber' is not defined" in said and "cell 2, line 4, in total result += nmber" in said


def test_strict_fails_for_work_that_loses_points_and_only_for_that(viva: Viva, tmp_path: Path) -> None:
    assert viva("check", hand_in(tmp_path / "right"), "--strict").status == 0
    assert viva("check", hand_in(tmp_path / "wrong", KEEPS_CASE), "--strict").status == 3
    assert viva("check", tmp_path / "nothing", "--strict").status == 1


def test_without_a_path_it_checks_where_one_is(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hand_in(tmp_path / "mine"))
    ran = viva("check")
    assert ran.status == 0 and "7 of 7 points" in ran.out


def test_a_student_needs_no_secret_and_no_isolation(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIVA_SECRET")
    ran = viva("check", hand_in(tmp_path / "mine"))
    assert ran.status == 0 and "7 of 7 points" in ran.out


def test_one_question_at_a_time(viva: Viva, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    ran = viva("check", mine, "--only", "1.2")
    assert "2 of 2 points" in ran.out and "words of a short text" not in ran.out
    ran = viva("check", mine, "--only", "test_random_texts")
    assert ran.status == 1 and "words has no visible test 'test_random_texts'" in ran.sentence()


def test_work_for_another_assignment_is_noticed(viva: Viva, own_course: Path) -> None:
    """With two assignments the work is recognised by what only one starter defines; told wrongly, a note says so."""
    hand_in(own_course / "assignments/words/starter", "def word_counts(text): ...\n\n\ndef total(numbers): ...\n")
    for part in ("assignments", "graders"):
        shutil.copytree(own_course / part / "words", own_course / part / "masks")
    hand_in(own_course / "assignments/masks/starter", "def mask(n): ...\n")
    for file in ("key.py", "test_words.py"):
        path = own_course / "graders/masks" / file
        path.write_text(path.read_text("utf-8").replace("word_counts", "mask").replace("total", "size"), "utf-8")
    grader = own_course / "grader.yaml"
    grader.write_text(grader.read_text("utf-8").replace("[words]", "[words, masks]"), "utf-8")
    mine = hand_in(own_course.parent / "mine")
    assert "7 of 7 points" in viva("check", mine).out
    ran = viva("check", mine, "--assignment", "masks")
    said = " ".join(ran.out.split())
    assert "your submission defines none of the names asked for (such as `mask`, `size`)" in said
    ran = viva("check", hand_in(own_course.parent / "other", "x = 1\n"))
    assert ran.status == 1
    assert (
        "cannot be told which assignment" in ran.sentence()
        and "--assignment NAME (one of: words, masks)" in ran.sentence()
    )


def test_a_loop_that_never_ends_costs_its_test(viva: Viva, tmp_path: Path) -> None:
    ran = viva("check", hand_in(tmp_path / "mine", RIGHT.replace("result = 0", "while True: pass")))
    assert ran.status == 0 and "⧗ timeout" in ran.out and "5 of 7 points" in ran.out
