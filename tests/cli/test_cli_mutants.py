"""`viva verify --mutants`: a hole in a grader is shown with a diff, a complete grader has none; ten in every verify."""

import json
import re
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import hand_in
from viva.verify.mutants import general_mistakes

pytestmark = pytest.mark.long

KEY = "def scaled(numbers, factor=2):\n    return [factor * number for number in numbers if number > 0]\n"
TESTS = '''\
from viva.grading import agree, number, weight


@number("1")
@weight(1)
def test_scaled(student, key):
    """Numbers are scaled."""
    for numbers in QUESTIONS:
        agree(student.scaled(numbers), key.scaled(numbers))
        agree(student.scaled(numbers, 5), key.scaled(numbers, 5))
'''
COMPLETE = "[[], [-1, 0, 1, 2], [3]]"
WITH_A_HOLE = "[[1, 2, 3]]"
"""No one asks about a number that is not larger than 0."""


@pytest.fixture
def course(own_course: Path) -> Path:
    (own_course / "graders/words/test_words.py").unlink()
    (own_course / "graders/words/key.py").write_text(KEY, "utf-8")
    settings = own_course / "assignments/words/assignment.yaml"
    settings.write_text(settings.read_text("utf-8").replace("points: 10", "points: 1"), "utf-8")
    hand_in(own_course / "fixtures/words/submissions/accepted/plain", KEY.replace("number > 0", "0 < number"))
    return own_course


def ask(course: Path, questions: str) -> None:
    (course / "graders/words/test_scaled.py").write_text(TESTS.replace("QUESTIONS", questions), "utf-8")


def test_a_hole_is_shown_with_its_diff_and_where(viva: Viva, course: Path, tmp_path: Path) -> None:
    ask(course, WITH_A_HOLE)
    ran = viva("verify", "--mutants", "-o", tmp_path / "report")
    assert ran.status == 1
    assert "✗ words: your grader accepts this: solution.py, line 2, in scaled (filter_dropped)" in ran.out
    assert "    -    return [factor * number for number in numbers if number > 0]" in ran.out
    assert "    +    return [factor * number for number in numbers]" in ran.out
    found = json.loads((tmp_path / "report/words.json").read_text("utf-8"))
    assert found["survived"] == len(found["survivors"]) > 1
    assert found["mutants"] == found["killed"] + found["survived"] + found["equivalent"] + found["left_open"]
    assert str(tmp_path) not in json.dumps(found)


def test_a_complete_grader_lets_none_pass(viva: Viva, course: Path, tmp_path: Path) -> None:
    ask(course, COMPLETE)
    ran = viva("verify", "--mutants", "-o", tmp_path)
    assert (ran.status, "✗" in ran.out) == (0, False), ran.out
    assert "100.0% of the others lose points" in ran.out
    once = (tmp_path / "words.json").read_bytes()
    viva("verify", "--mutants", "-o", tmp_path, "--workers", "1")
    assert (tmp_path / "words.json").read_bytes() == once


def test_an_equivalent_one_is_counted_apart_and_a_stale_row_is_an_error(viva: Viva, course: Path) -> None:
    ask(course, "[[1, -1, 2], []]")
    rows = course / "assignments/words/equivalent_mutants.yaml"
    row = '- {file: "FILE", function: scaled, was: "*", becomes: "*", left_open: true, reason: no zeros are asked}\n'
    rows.write_text(row.replace("FILE", "solution.py") + row.replace("FILE", "accepted/*"), "utf-8")
    ran = viva("verify", "--mutants")
    assert ran.status == 0 and " 0 do not, " in ran.out and " 0 left open" not in ran.out
    ask(course, COMPLETE)
    ran = viva("verify", "--mutants")
    assert ran.status == 1 and "equivalent_mutants.yaml, row 1: nothing that survives" in ran.out


def test_ten_are_tried_in_every_verify(viva: Viva, course: Path) -> None:
    ask(course, COMPLETE)
    ran = viva("verify")
    assert ran.status == 0 and re.search(r"words: (\d+) of \1 broken right answers lose points\.", ran.out)
    assert ran.out.count("broken") == 1
    again = viva("verify", "--verbose")
    tried = [line for line in again.out.splitlines() if "mutant of" in line]
    assert 5 <= len(tried) <= 10 and len({line.rpartition(" ")[0] for line in tried}) == len(tried)
    ran = viva("verify", "--no-mutants")
    assert ran.status == 0 and "broken" not in ran.out
    ask(course, "[[]]")
    ran = viva("verify")
    assert ran.status == 1 and "your grader accepts this:" in ran.out and "+    return" in ran.out


def test_what_is_missing_is_said(viva: Viva, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(course, COMPLETE)
    ran = viva("verify", "-o", "report")
    of_what = "viva: -o is for the report of --mutants; pass --mutants as well, or leave out -o."
    assert ran.status == 1 and ran.sentence() == of_what
    monkeypatch.setattr(general_mistakes, "installed", lambda: False)
    ran = viva("verify", "--mutants")
    assert ran.status == 0 and ran.err == (
        "viva: cosmic-ray is not installed (pip install 'viva-grader[mutants]'); "
        "only the mistakes of this field are made.\n"
    )
    assert "cosmic_ray" not in ran.out
