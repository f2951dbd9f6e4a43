"""`viva verify`: known verdicts hold or are said to be broken; submission.yaml is read strictly."""

import shutil
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ACCEPTED, KEEPS_CASE, RIGHT, hand_in

FIXTURES = "fixtures/words/submissions"
HALF = RIGHT.split("\n\n\n")[0]


@pytest.fixture
def proved(own_course: Path) -> Path:
    """A course whose known verdicts all hold."""
    tests = own_course / "graders/words/test_words.py"
    asked = "    agree(student.total([1, 2, 3.5]), key.total([1, 2, 3.5]))\n"
    tests.write_text(tests.read_text("utf-8").replace(asked, asked + asked.replace("[1, 2, 3.5]", "[2]")), "utf-8")
    for name, source in {
        "accepted/plain": ACCEPTED,
        "partial/half": HALF,
        "wrong/keeps_case": KEEPS_CASE,
        "error/raises": RIGHT.replace("result = 0", "1 / 0"),
        "timeout/hangs": RIGHT.replace("result = 0", "while True: pass"),
        "hostile/exits": "import os\nos._exit(0)\n",
    }.items():
        hand_in(own_course / FIXTURES / name, source)
    hand_in(own_course / "assignments/words/starter", "def word_counts(text): ...\n\n\ndef total(numbers): ...\n")
    expect(own_course, "wrong/keeps_case", "{score: 3, failing: [test_word_counts, test_random_texts], message: hat}")
    return own_course


def expect(course: Path, name: str, text: str) -> None:
    (course / FIXTURES / name / "submission.yaml").write_text(text, "utf-8")


@pytest.mark.long
def test_what_holds_is_counted_and_listed_when_asked(viva: Viva, proved: Path) -> None:
    ran = viva("verify")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("words: 9 known verdicts hold, 0 do not (isolation T")
    ran = viva("verify", "words", "--verbose", "--workers", "1")
    listed = [line for line in ran.out.splitlines() if line.startswith("✓ holds")]
    assert [line.split(": ")[1] for line in listed if ": mutant of" not in line] == [
        "points", "key", "starter", "accepted/plain", "partial/half", "wrong/keeps_case", "error/raises",
        "timeout/hangs", "hostile/exits",
    ]  # fmt: skip


@pytest.mark.long
def test_assignments_are_told_apart_and_in_order(viva: Viva, own_course: Path) -> None:
    """All are graded in one batch; what is broken counts for its own assignment only."""
    hand_in(own_course / FIXTURES / "accepted/wrong", KEEPS_CASE)
    for folder in ("assignments", "graders"):
        shutil.copytree(own_course / folder / "words", own_course / folder / "again")
    hand_in(own_course / "fixtures/again/submissions/accepted/plain", ACCEPTED)
    settings = own_course / "grader.yaml"
    settings.write_text(settings.read_text("utf-8").replace("[words]", "[words, again]"), "utf-8")
    for names in ([], ["again", "words", "again"]):
        ran = viva("verify", *names, "--workers", "2")
        told = [line.split(" (")[0] for line in ran.out.splitlines() if "known verdicts" in line]
        words, again = "words: 2 known verdicts hold, 1 do not", "again: 3 known verdicts hold, 0 do not"
        assert told == ([again, words] if names else [words, again]) and ran.status == 1


@pytest.mark.long
def test_each_promise_of_a_folder_is_checked(viva: Viva, proved: Path) -> None:
    """Submissions that lie in a wrong folder, a starter that is solved, and a key that contradicts itself."""
    (proved / FIXTURES / "wrong/keeps_case/submission.yaml").unlink()
    fixtures = proved / FIXTURES
    for now, before in {
        "accepted": "wrong/keeps_case",
        "partial": "accepted/plain",
        "wrong": "accepted/plain",
        "error": "accepted/plain",
        "timeout": "accepted/plain",
    }.items():
        hand_in(fixtures / now / "misplaced", (fixtures / before / "solution.py").read_text("utf-8"))
    hand_in(proved / "assignments/words/starter", RIGHT)
    key = proved / "graders/words/key.py"
    key.write_text(key.read_text("utf-8").replace("sum(numbers)", 'sum(numbers) + (__name__ == "solution")'), "utf-8")
    ran = viva("verify", "--workers", "1")
    assert ran.status == 1
    broken = dict(line.split("words: ", 1)[1].split("\n", 1) for line in ran.out.split("✗ BROKEN  ")[1:])
    for name, complaint in {
        "accepted/misplaced": "a right answer lost points: test_word_counts failed",
        "partial/misplaced": "expected some but not all",
        "wrong/misplaced": "got full marks",
        "error/misplaced": "no test ended in an error",
        "timeout/misplaced": "no test ended in a timeout",
        "starter": "state it in starter/submission.yaml if it is meant",
    }.items():
        assert complaint in broken.pop(name), ran.out
    assert "a right answer lost points: test_total failed" in broken.pop("key")
    assert not broken


def test_what_submission_yaml_states_is_checked(viva: Viva, own_course: Path) -> None:
    complaints = {
        "score: 4": "got 3 points, expected 4",
        "failing: [test_word_counts]": "should pass but did not: test_random_texts",
        "failing: [test_word_counts, test_random_texts, test_total]": "should not pass but did: test_total",
        "failing: [test_nothing]": "test_nothing must fail, and there is no such test",
        "message: nobody says this": "no message to the student says 'nobody says this'",
    }
    for number, stated in enumerate(complaints):
        hand_in(own_course / FIXTURES / f"wrong/keeps_case{number}", KEEPS_CASE)
        expect(own_course, f"wrong/keeps_case{number}", stated)
    ran = viva("verify")
    assert ran.status == 1
    of_each = ran.out.split("✗ BROKEN  words: wrong/keeps_case")[1:]
    for number, complaint in enumerate(complaints.values()):
        assert of_each[number].startswith(str(number)) and complaint in of_each[number], ran.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mistake: M.\nscroe: 3", "submission.yaml:2: scroe: there is no such key; did you mean"),
        ("score: 1/0", "expected a number of points"),
        ("failing: test_total", "expected a list"),
        ("- 3", "expected keys with values"),
        ("a: [", "invalid YAML: "),
        ("base: accepted/plian", "submission.yaml: base: there is no example accepted/plian"),
        ("base: ../keeps_case", "expected starter, or a kind and a name"),
        ("base: wrong/keeps_case", "base: wrong/keeps_case is itself a copy of this example"),
        ("base: accepted/plain\nwithout: [answers.yaml]", "without: the base has no file answers.yaml"),
    ],
)
def test_a_wrong_submission_yaml_is_one_sentence(viva: Viva, own_course: Path, text: str, said: str) -> None:
    hand_in(own_course / FIXTURES / "accepted/plain", ACCEPTED)
    hand_in(own_course / FIXTURES / "wrong/keeps_case", KEEPS_CASE)
    expect(own_course, "wrong/keeps_case", text)
    ran = viva("verify")
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()


def test_a_fault_of_the_grader_is_no_verdict(viva: Viva, own_course: Path) -> None:
    tests = own_course / "graders/words/test_words.py"
    text = tests.read_text("utf-8")
    tests.write_text(text.replace("    agree(student.total", "    1 / 0\n    agree(student.total"), "utf-8")
    ran = viva("verify")
    assert ran.status == 1 and "test_total is a grader error: ZeroDivisionError: division by zero" in ran.out
    hand_in(own_course.parent / "right")
    ran = viva("grade", own_course.parent / "right")
    assert ran.status == 2
    assert ran.err == "viva: 1 test is not graded yet because something went wrong on the grader's side.\n"
    assert "no points are lost" in ran.out and "ZeroDivisionError" in ran.out
    ran = viva("check", own_course.parent / "right")
    assert ran.status == 2 and "ZeroDivisionError" not in ran.out
