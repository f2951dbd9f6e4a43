"""`viva pack`: what is in the archive, what is said of it, and that it can be graded."""

import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, hand_in, hand_in_notebook

pytestmark = pytest.mark.long


def names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as packed:
        return packed.namelist()


def test_what_is_packed_can_be_graded_and_is_the_same_each_time(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", "from helper import *\n" + RIGHT, helper="x = 1\n", unused="y = 1\n")
    hand_in(own_course / "assignments/words/starter", "def word_counts(text): ...\n\n\ndef total(numbers): ...\n")
    (mine / ".env").write_text("KEY=1")
    (mine / ".git").mkdir()
    ran = viva("pack", mine, "-o", "out/hand-in.zip")
    assert (ran.status, ran.err) == (0, "")
    assert names(tmp_path / "out/hand-in.zip") == ["helper.py", "solution.py"]
    said = " ".join(ran.out.split())
    assert "looks like a secret: .env" in said and "not imported by your program: unused.py" in said
    assert "9 of 9 points" not in said and "7 of 7 points, 1 more pending in the public tests of “Words”" in said
    assert "Nothing written for: 2.2." in said and "written: out/hand-in.zip (2 files," in said
    again = viva("pack", mine, "-o", "out/again.zip")
    assert (tmp_path / "out/again.zip").read_bytes() == (tmp_path / "out/hand-in.zip").read_bytes()
    assert again.out.replace("again.zip", "hand-in.zip") == ran.out
    graded = viva("grade", "out/hand-in.zip")
    assert graded.status == 0 and "9 of 9 points" in " ".join(graded.out.split())


def test_the_folder_in_which_one_is_and_the_name_of_the_assignment(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = hand_in(tmp_path / "mine")
    monkeypatch.chdir(mine)
    assert viva("pack").status == 0
    assert viva("pack").status == 0  # the archive of the first time is not part of the second
    assert names(mine / "words.zip") == ["solution.py"]


def test_what_is_missing_and_what_raises_is_said(viva: Viva, tmp_path: Path) -> None:
    mine = hand_in_notebook(tmp_path / "mine", "def total(numbers):\n    return sum(numbers)", "1 / 0")
    ran = viva("pack", mine / "work.ipynb", "-o", "a.zip")
    said = " ".join(ran.out.split())
    assert ran.status == 0 and names(tmp_path / "a.zip") == ["work.ipynb"]
    assert "cell 2 of work.ipynb: Your code raised ZeroDivisionError" in said
    assert "Not defined: `word_counts`." in said and "No answer to: 2.1." in said


def test_answers_that_are_blank_or_unreadable_are_named(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    starter = hand_in(own_course / "assignments/words/starter")
    (starter / "answers.yaml").write_text('answers:\n  "2.1":\n  "2.3":\nwritten:\n  "2.2":\n  "2.4":\n')
    mine = hand_in(tmp_path / "mine", RIGHT + "# mine\n")
    (mine / "answers (1).yaml").write_text("Q2.1: perhaps\n2.2: Because.\n7: [x\n")
    said = " ".join(viva("pack", mine, "-o", "a.zip").out.split())
    assert "answers (1).yaml was read as answers.yaml." in said and "belong to no question: 7." in said
    assert "No answer to: 2.3." in said and "Nothing written for: 2.4." in said
    assert "2.1: " in said and "cannot be read as a choice" in said
    assert "The file of answers: line " in said and "invalid YAML" in said
    checked = " ".join(viva("check", mine).out.split())
    assert "No answer to: 2.3." in checked and "Nothing written for: 2.4." in checked


def test_what_cannot_be_packed_is_one_sentence(viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    hand_in(tmp_path / "blank", "")
    hand_in(tmp_path / "mine")
    there = sorted(tmp_path.rglob("*"))
    for path, target, said in (
        ("empty", "a.zip", "empty: there is no notebook"),
        ("nothing", "a.zip", "nothing: no such file"),
        ("mine", "a.tar", "ends with .zip"),
        ("blank", "a.zip", "solution.py is empty"),
    ):
        ran = viva("pack", path, "-o", target)
        assert (ran.status, ran.out) == (1, "") and said in ran.sentence()
    assert sorted(tmp_path.rglob("*")) == there, "nothing was written"
