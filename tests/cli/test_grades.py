"""`viva grades`: graded folders become marks in the file that a platform exported, with what is in no row said."""

import csv
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ASSIGNMENT
from viva.formats.results_json import to_json
from viva.model import Case, Entry, Score, Status

GRADEBOOK = (
    "Student,ID,SIS Login ID,Section,Words (77),Final Score\n"
    "    Points Possible,,,,10.00,(read only)\n"
    '"Lovelace, Ada",1,ada,A,,12\n'
    '"Bo, Bo",2,bo,A,3.00,\n'
    '"Kim, Kim",3,kim,A,,\n'
)


def write_result(folder: Path, earned: int, still_open: int = 0, assignment: str = "words") -> None:
    entries = []
    worth = {Status.PASSED: earned, Status.NEEDS_REVIEW: still_open, Status.FAILED: 10 - earned - still_open}
    for status, whole in worth.items():
        points = Fraction(whole)
        won = points if status is Status.PASSED else Fraction(0)
        case = Case("", status, won, points, "")
        entries.append(Entry(f"t.py::{status}", "t", "1", "visible", status, won, points, (case,)))
    folder.mkdir(parents=True)
    (folder / "results.json").write_bytes(to_json(Score("s", "0" * 64, assignment, 1, tuple(entries))))


@pytest.fixture(autouse=True)
def _class(tmp_path: Path) -> None:
    write_result(tmp_path / "results/hw/ada", 9)
    write_result(tmp_path / "results/hw/bo.zip", 6, still_open=2)
    write_result(tmp_path / "results/hw/zoe", 10)
    (tmp_path / "gradebook.csv").write_text(GRADEBOOK, "utf-8")
    (tmp_path / "roster.csv").write_text("student,name,email\nada,Ada,ada@x.edu\nbo,Bo,\nkim,=Kim,\n", "utf-8")


def test_grades_go_into_the_gradebook(viva: Viva, tmp_path: Path) -> None:
    ran = viva("grades", "results", "--to", "canvas", "--into", "gradebook.csv", "-o", "back.csv")
    assert ran.status == 1
    assert ran.err == "viva: zoe: no row of gradebook.csv is certainly theirs.\n"
    assert ran.out.splitlines() == [
        "bo: open, the row stays as it was",
        "1 grade written to back.csv; 2 rows of students stay as they were.",
    ]
    assert (tmp_path / "back.csv").read_text("utf-8") == GRADEBOOK.replace("ada,A,,12", "ada,A,9.00,12")
    assert (tmp_path / "gradebook.csv").read_text("utf-8") == GRADEBOOK


def test_policy_and_exceptions_count(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    folder = own_course / "assignments/words"
    (folder / "assignment.yaml").write_text(ASSIGNMENT + "policy: {nothing: zero, rounding: {to: 0.5}}\n", "utf-8")
    (folder / "exceptions.yaml").write_text(
        "exceptions:\n"
        "- {students: ada, excused: true, by: W, reason: ill}\n"
        "- {students: [zoe, nobody], points: -2.3, by: W, reason: late by hand}\n",
        "utf-8",
    )
    ran = viva("grades", "results", "--to", "csv", "--roster", "roster.csv", "--with-open", "-o", "marks.csv")
    assert (ran.status, ran.out.splitlines()) == (
        0,
        ["ada: excused, without points", "3 grades written to marks.csv."],
    )
    assert ran.err == "viva: exceptions.yaml names `nobody`, but no student of the class has this id.\n"
    rows = list(csv.DictReader((tmp_path / "marks.csv").read_text("utf-8").splitlines()))
    assert [(row["student"], row["name"], row["state"], row["points"], row["maximum"]) for row in rows] == [
        ("ada", "Ada", "excused", "", "10"),
        ("bo", "Bo", "open", "6", "10"),
        ("kim", "'=Kim", "missing", "0", "10"),
        ("zoe", "", "graded", "7.5", "10"),
    ]
    assert rows[3]["why"] == "−2.3 points by W (late by hand)."


def test_no_graded_point_is_no_zero(viva: Viva, tmp_path: Path) -> None:
    write_result(tmp_path / "results/hw/dan", 0, still_open=10)
    ran = viva("grades", "results", "--to", "csv", "--with-open", "-o", "marks.csv")
    assert ran.out.splitlines() == ["dan: open, without points", "3 grades written to marks.csv."]


def test_late_policy_without_times(viva: Viva, own_course: Path) -> None:
    folder = own_course / "assignments/words"
    policy = "due: 2026-11-20 23:59 Europe/Vienna\npolicy: {late: [{until: 24h, minus: 10%}]}\n"
    (folder / "assignment.yaml").write_text(ASSIGNMENT + policy, "utf-8")
    ran = viva("grades", "results", "--to", "csv", "-o", "marks.csv")
    assert "the late policy was not applied to 3 submissions, because nothing says when" in ran.err


def test_folders_called_as_logins(viva: Viva, tmp_path: Path) -> None:
    assert viva("grades", "results", "--to", "csv", "--roster", "gradebook.csv", "-o", "marks.csv").status == 0
    rows = list(csv.DictReader((tmp_path / "marks.csv").read_text("utf-8").splitlines()))
    assert [(row["student"], row["name"], row["state"]) for row in rows] == [
        ("1", "Ada Lovelace", "graded"),
        ("2", "Bo Bo", "open"),
        ("3", "Kim Kim", "missing"),
        ("zoe", "", "graded"),
    ]


@pytest.mark.parametrize(
    "to",
    [
        "nbgrader",
        "parquet",
    ],
)
def test_new_files_hold_every_grade(viva: Viva, tmp_path: Path, to: str) -> None:
    ran = viva("grades", "results", "--to", to, "-o", "marks")
    assert (ran.status, ran.err) == (0, "")
    if to == "parquet":
        assert pyarrow.parquet.read_table(tmp_path / "marks").column("points").to_pylist() == [9.0, None, 10.0]
        return
    rows = list(csv.DictReader((tmp_path / "marks").read_text("utf-8").splitlines()))
    if to == "nbgrader":
        assert [(row["student_id"], row["score"]) for row in rows] == [("ada", "9"), ("bo", ""), ("zoe", "10")]
    else:
        assert [(row["OrgDefinedId"], row["Words Points Grade"]) for row in rows] == [("#ada", "9"), ("#zoe", "10")]


WRONG = [
    (["results", "--to", "csv", "--into", "gradebook.csv"], "--to csv is a new file: leave out --into"),
    (["results", "--to", "moodle", "--into", "gradebook.csv"], "is not a grading worksheet of Moodle"),
    (["results", "--to", "csv", "--roster", "twice.csv"], "ada is the identifier of another person in line 2 already"),
    (["others", "--to", "csv"], "results of several assignments (other, words); say which with -a"),
    (["others/x", "--to", "csv", "-a", "words"], "There is no result of `words`; there are results of: other"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_command(viva: Viva, tmp_path: Path, arguments: list[str], said: str) -> None:
    for name in ("twice/a/ada", "twice/b/ada", "others/ada"):
        write_result(tmp_path / name, 1)
    write_result(tmp_path / "others/x/bo", 1, assignment="other")
    (tmp_path / "twice.csv").write_text("student,name\nada,Ada\nada,Other\n", "utf-8")
    ran = viva("grades", *arguments, "-o", "marks.csv")
    assert ran.status == 1 and said in ran.sentence()
    assert not (tmp_path / "marks.csv").exists()
