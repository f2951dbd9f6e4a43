"""`viva check` and `viva pack`: what a student sees before submitting, and the archive to submit."""

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, edit, hand_in, hand_in_notebook

STARTER = "def word_counts(text): ...\n\n\ndef total(numbers): ...\n"


def test_public_tests_and_what_is_left_out(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student needs no path, no secret and no isolation."""
    monkeypatch.delenv("VIVA_SECRET")
    monkeypatch.chdir(hand_in(tmp_path / "mine"))
    ran = viva("check")
    assert (ran.status, ran.err) == (0, "")
    assert "7 of 7 points, 1 more pending" in ran.out
    assert "Random texts" not in ran.out and "isolation" not in ran.out
    assert ran.out.endswith("Not included: 2 points of hidden tests, 1 point graded by hand.\n")


def test_mistake_is_shown_where_it_is(viva: Viva, tmp_path: Path) -> None:
    ran = viva("check", hand_in(tmp_path / "mine", KEEPS_CASE))
    assert ran.status == 0  # marks are not an error
    assert "✗ failed" in ran.out and "word_counts('The cat and the hat')" in ran.out
    cells = RIGHT.replace("result += number", "result += nmber").split("\n\n\n")
    ran = viva("check", hand_in_notebook(tmp_path / "notebook", *cells))
    said = " ".join(ran.out.split())
    assert "NameError: name 'nmber' is not defined" in said and "cell 2, line 4, in total result += nmber" in said


def test_strict_check_fails_for_lost_points(viva: Viva, tmp_path: Path) -> None:
    assert viva("check", hand_in(tmp_path / "right"), "--strict").status == 0
    assert viva("check", hand_in(tmp_path / "wrong", KEEPS_CASE), "--strict").status == 3
    assert viva("check", tmp_path / "nothing", "--strict").status == 1


def test_one_question_at_a_time(viva: Viva, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    ran = viva("check", mine, "--only", "1.2")
    assert "2 of 2 points" in ran.out and "words of a short text" not in ran.out
    ran = viva("check", mine, "--only", "test_random_texts")
    assert ran.status == 1 and "words has no visible test 'test_random_texts'" in ran.sentence()


def test_work_for_another_assignment(viva: Viva, own_course: Path) -> None:
    """With two assignments the work is recognized by what only one starter defines; told wrongly, a note says so."""
    hand_in(own_course / "assignments/words/starter", STARTER)
    for part in ("assignments", "graders"):
        shutil.copytree(own_course / part / "words", own_course / part / "masks")
    hand_in(own_course / "assignments/masks/starter", "def mask(n): ...\n")
    for file in ("key.py", "test_words.py"):
        edit(own_course / "graders/masks" / file, "word_counts", "mask")
        edit(own_course / "graders/masks" / file, "total", "size")
    edit(own_course / "grader.yaml", "[words]", "[words, masks]")
    mine = hand_in(own_course.parent / "mine")
    assert "7 of 7 points" in viva("check", mine).out
    said = " ".join(viva("check", mine, "--assignment", "masks").out.split())
    assert "your submission defines none of the names asked for (such as `mask`, `size`)" in said
    ran = viva("check", hand_in(own_course.parent / "other", "x = 1\n"))
    assert ran.status == 1
    assert "cannot be told which assignment" in ran.sentence()
    assert "--assignment NAME (one of: words, masks)" in ran.sentence()


# --- pack


def names_in(path: str) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


@pytest.mark.long
def test_pack_what_can_be_graded(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", "from helper import *\n" + RIGHT, helper="x = 1\n", unused="y = 1\n")
    hand_in(own_course / "assignments/words/starter", STARTER)
    (mine / ".env").write_text("KEY=1")
    (mine / ".git").mkdir()
    ran = viva("pack", mine, "-o", "out/hand-in.zip")
    assert (ran.status, ran.err) == (0, "")
    assert names_in("out/hand-in.zip") == ["helper.py", "solution.py"]
    said = " ".join(ran.out.split())
    assert "looks like a secret: .env" in said and "not imported by your program: unused.py" in said
    assert "9 of 9 points" not in said and "7 of 7 points, 1 more pending in the public tests of “Words”" in said
    assert "Nothing written for: 2.2." in said and "written: out/hand-in.zip (2 files," in said
    again = viva("pack", mine, "-o", "out/again.zip")
    assert (tmp_path / "out/again.zip").read_bytes() == (tmp_path / "out/hand-in.zip").read_bytes()
    assert again.out.replace("again.zip", "hand-in.zip") == ran.out
    graded = viva("grade", "out/hand-in.zip")
    assert graded.status == 0 and "9 of 9 points" in " ".join(graded.out.split())


@pytest.mark.long
def test_pack_the_current_folder(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hand_in(tmp_path / "mine"))
    assert viva("pack").status == 0
    assert viva("pack").status == 0  # the archive of the first time is not part of the second
    assert names_in("words.zip") == ["solution.py"]


@pytest.mark.parametrize(
    ("path", "target", "said"),
    [
        ("empty", "a.zip", "empty: there is no notebook"),
        ("nothing", "a.zip", "nothing: no such file"),
        ("mine", "a.tar", "ends with .zip"),
    ],
)
def test_wrong_pack(viva: Viva, tmp_path: Path, path: str, target: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    hand_in(tmp_path / "blank", "")
    hand_in(tmp_path / "mine")
    before = sorted(tmp_path.rglob("*"))
    ran = viva("pack", path, "-o", target)
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()
    assert sorted(tmp_path.rglob("*")) == before, "nothing was written"


@pytest.mark.long
def test_pack_says_what_is_missing(viva: Viva, tmp_path: Path) -> None:
    mine = hand_in_notebook(tmp_path / "mine", "def total(numbers):\n    return sum(numbers)", "1 / 0")
    ran = viva("pack", mine / "work.ipynb", "-o", "a.zip")
    said = " ".join(ran.out.split())
    assert ran.status == 0 and names_in("a.zip") == ["work.ipynb"]
    assert "cell 2 of work.ipynb: Your code raised ZeroDivisionError" in said
    assert "Not defined: `word_counts`." in said and "No answer to: 2.1." in said


@pytest.mark.long
def test_pack_names_blank_and_unreadable_answers(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    starter = hand_in(own_course / "assignments/words/starter")
    (starter / "answers.yaml").write_text('answers:\n  "2.1":\n  "2.3":\nwritten:\n  "2.2":\n  "2.4":\n')
    with (own_course / "assignments/words/assignment.yaml").open("a") as settings:
        settings.write('\nanswers: {"2.1": "choices [A, B]"}\n')
    mine = hand_in(tmp_path / "mine", RIGHT + "# mine\n")
    (mine / "answers (1).yaml").write_text("Q2.1: perhaps\n2.2: Because.\n7: [x\n")
    said = " ".join(viva("pack", mine, "-o", "a.zip").out.split())
    assert "answers (1).yaml was read as answers.yaml." in said and "belong to no question: 7." in said
    assert "No answer to: 2.3." in said and "Nothing written for: 2.4." in said
    assert "`2.1` must be one or several of A, B; got 'perhaps'" in said
    assert "The file of answers: line " in said and "invalid YAML" in said
    checked = " ".join(viva("check", mine).out.split())
    assert "No answer to: 2.3." in checked and "Nothing written for: 2.4." in checked
