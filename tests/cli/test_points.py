"""Extra credit, deductions and dropped questions, from the tests to results, grades, reports and regrades."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.run_command import Viva, scores_in
from tests.support.words_course import ACCEPTED, SETTINGS_FILE, TESTS_FILE, edit, hand_in

MORE_TESTS = """

@number("3.1")
@weight(2)
@tags("extra_credit")
def test_bonus(student, key):
    \"\"\"Capital letters do not matter.\"\"\"
    agree(student.word_counts("B b"), key.word_counts("B b"))


@number("3.2")
@weight(-2)
def test_case(student, key):
    \"\"\"Deduction: capital letters are kept.\"\"\"
    agree(student.word_counts("B"), key.word_counts("B"))
"""


NO_BONUS = """

def without_bonus(text):
    return text if text == "B b" else text.lower()
"""


@pytest.fixture
def bonus_course(keeping: Path, ada_and_bob: Path) -> Path:
    edit(keeping / TESTS_FILE, "from viva.grading import", "from viva.grading import tags,")
    with (keeping / TESTS_FILE).open("a") as file:
        file.write(MORE_TESTS)
    return keeping


def test_extra_credit_and_deduction(viva: Viva, bonus_course: Path, ada_and_bob: Path) -> None:
    """Ada gets 2 points more than the 9 of her tests; Bob gets none of them, and loses 2 of his 3."""
    graded = viva("grade", ada_and_bob, "-o", "out")
    assert graded.status == 0 and scores_in("out") == {"ada": 11.0, "bob": 1.0}
    [results] = [json.loads(path.read_text()) for path in Path("out").rglob("bob/results.json")]
    of_test = {test["extra_data"]["test_id"].partition("::")[2]: test for test in results["tests"]}
    assert (of_test["test_case"]["score"], of_test["test_case"]["max_score"]) == (-2.0, 0.0)
    assert Fraction(results["extra_data"]["points"]) == 10, "extra credit and deductions are outside the maximum"
    assert " 11 of 9 points, 1 more pending" in viva("history", "ada").out
    one = viva("grade", ada_and_bob / "bob", "--again", "--why", "to see the table", "--by", "grace")
    assert "-2 / 0  3.2  Deduction" in one.out and "Capital letters do not matter. (extra credit)" in one.out
    assert "1 of 9 points, 1 more pending" in one.out


def test_grades_and_report_of_extra_credit(viva: Viva, bonus_course: Path, ada_and_bob: Path) -> None:
    viva("grade", ada_and_bob)
    assert viva("grades", "words", "--to", "csv", "--with-open", "-o", "grades.csv").status == 0
    with Path("grades.csv").open() as file:
        assert {(row["points"], row["maximum"]) for row in csv.DictReader(file)} == {("11", "10"), ("1", "10")}
    assert viva("report", "words", "-o", "report").status == 0
    page = Path("report/report.html").read_text()
    assert "3.1 (extra)" in page


def test_verify_adds_up(viva: Viva, bonus_course: Path) -> None:
    """An accepted example may earn more than the maximum, and one without the extra credit loses nothing."""
    submissions = bonus_course / "fixtures" / "words" / "submissions"
    hand_in(submissions / "accepted" / "with_bonus", ACCEPTED)
    hand_in(
        submissions / "accepted" / "without_bonus", ACCEPTED.replace("text.lower()", "without_bonus(text)") + NO_BONUS
    )
    assert "4 known verdicts hold, 0 do not" in viva("verify", "words").out
    edit(bonus_course / SETTINGS_FILE, "points: 10", "points: 12")
    assert "the tests add up to 10 points, but assignment.yaml says 12" in viva("verify", "words").out


@pytest.mark.parametrize(("decision", "points", "bob"), [("give", 10, 5.0), ("remove", 6, 1.0)])
def test_dropped_question(
    viva: Viva, bonus_course: Path, ada_and_bob: Path, decision: str, points: int, bob: float
) -> None:
    viva("grade", ada_and_bob, "-o", "out")
    edit(bonus_course / SETTINGS_FILE, "points: 10", f"points: {points}\ndropped: {{test_word_counts: {decision}}}")
    proposed = viva("regrade", "words", "--why", "1.1 was ambiguous")
    assert "0 programs were run" in proposed.out
    viva("regrade", "words", "--apply")
    viva("grade", ada_and_bob, "-o", "out")
    assert scores_in("out")["bob"] == bob
    assert "This question was dropped" in Path("out").glob("**/bob/results.json").__next__().read_text()


@pytest.mark.parametrize(
    ("dropped", "sentence"),
    [("'9.9': give", "`9.9` is neither a question nor a test"), ("'1.2': remove", "write 8")],
)
def test_wrong_dropped_question(viva: Viva, bonus_course: Path, ada_and_bob: Path, dropped: str, sentence: str) -> None:
    edit(bonus_course / SETTINGS_FILE, "points: 10", f"points: 10\ndropped: {{{dropped}}}")
    assert sentence in viva("grade", ada_and_bob).sentence()
