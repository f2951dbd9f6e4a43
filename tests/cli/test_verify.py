"""`viva verify`: known verdicts hold or are said to be broken, and mutants of right answers lose points."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import (
    ACCEPTED,
    KEEPS_CASE,
    KEY_FILE,
    RIGHT,
    SETTINGS_FILE,
    TESTS_FILE,
    edit,
    hand_in,
)
from viva.plugins.verify.mutants import general_mistakes

FIXTURES = "fixtures/words/submissions"
EXAMPLES = {
    "accepted/plain": ACCEPTED,
    "partial/half": RIGHT.split("\n\n\n")[0],
    "wrong/keeps_case": KEEPS_CASE,
    "error/raises": RIGHT.replace("result = 0", "1 / 0"),
    "timeout/hangs": RIGHT.replace("result = 0", "while True: pass"),
    "hostile/exits": "import os\nos._exit(0)\n",
}


@pytest.fixture
def verified(own_course: Path) -> Path:
    """A course whose known verdicts all hold."""
    question = "    agree(student.total([1, 2, 3.5]), key.total([1, 2, 3.5]))\n"
    edit(own_course / TESTS_FILE, question, question + question.replace("[1, 2, 3.5]", "[2]"))
    for name, source in EXAMPLES.items():
        hand_in(own_course / FIXTURES / name, source)
    hand_in(own_course / "assignments/words/starter", "def word_counts(text): ...\n\n\ndef total(numbers): ...\n")
    expect(own_course, "wrong/keeps_case", "{score: 3, failing: [test_word_counts, test_random_texts], message: hat}")
    return own_course


def expect(course: Path, name: str, text: str) -> None:
    (course / FIXTURES / name / "submission.yaml").write_text(text, "utf-8")


@pytest.mark.long
def test_verdicts_that_hold(viva: Viva, verified: Path) -> None:
    ran = viva("verify")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("words: 9 known verdicts hold, 0 do not (isolation T")
    ran = viva("verify", "words", "--verbose", "--workers", "1")
    listed = [line.split(": ")[1] for line in ran.out.splitlines() if line.startswith("✓ holds")]
    assert [name for name in listed if not name.startswith("mutant of")] == ["points", "key", "starter", *EXAMPLES]


@pytest.mark.long
def test_several_assignments(viva: Viva, own_course: Path) -> None:
    """All are graded in one batch; what is broken counts for its own assignment only."""
    hand_in(own_course / FIXTURES / "accepted/wrong", KEEPS_CASE)
    for folder in ("assignments", "graders"):
        shutil.copytree(own_course / folder / "words", own_course / folder / "again")
    hand_in(own_course / "fixtures/again/submissions/accepted/plain", ACCEPTED)
    edit(own_course / "grader.yaml", "[words]", "[words, again]")
    for names in ([], ["again", "words", "again"]):
        ran = viva("verify", *names, "--workers", "2")
        told = [line.split(" (")[0] for line in ran.out.splitlines() if "known verdicts" in line]
        words, again = "words: 2 known verdicts hold, 1 do not", "again: 3 known verdicts hold, 0 do not"
        assert told == ([again, words] if names else [words, again]) and ran.status == 1


@pytest.mark.long
def test_each_promise_of_a_folder(viva: Viva, verified: Path) -> None:
    """Submissions that lie in a wrong folder, a starter that is solved, and a key that contradicts itself."""
    (verified / FIXTURES / "wrong/keeps_case/submission.yaml").unlink()
    for kind in ("accepted", "partial", "wrong", "error", "timeout"):
        example = "wrong/keeps_case" if kind == "accepted" else "accepted/plain"
        hand_in(verified / FIXTURES / kind / "misplaced", EXAMPLES[example])
    hand_in(verified / "assignments/words/starter", RIGHT)
    edit(verified / KEY_FILE, "sum(numbers)", 'sum(numbers) + (__name__ == "solution")')
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
        "key": "a right answer lost points: test_total failed",
    }.items():
        assert complaint in broken.pop(name), ran.out
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
        ("failing: test_total", "expected a list"),
        ("base: accepted/plian", "submission.yaml: base: there is no example accepted/plian"),
        ("base: ../keeps_case", "expected starter, or a kind and a name"),
        ("base: wrong/keeps_case", "base: wrong/keeps_case is itself a copy of this example"),
        ("base: accepted/plain\nwithout: [answers.yaml]", "without: the base has no file answers.yaml"),
    ],
)
def test_wrong_submission_yaml(viva: Viva, own_course: Path, text: str, said: str) -> None:
    hand_in(own_course / FIXTURES / "accepted/plain", ACCEPTED)
    hand_in(own_course / FIXTURES / "wrong/keeps_case", KEEPS_CASE)
    expect(own_course, "wrong/keeps_case", text)
    ran = viva("verify")
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()


# --- mutants

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
def scaled(own_course: Path) -> Path:
    """A course whose only function has mutants that a test may miss."""
    (own_course / KEY_FILE).write_text(KEY, "utf-8")
    edit(own_course / SETTINGS_FILE, "points: 10", "points: 1")
    hand_in(own_course / FIXTURES / "accepted/plain", KEY.replace("number > 0", "0 < number"))
    return own_course


def ask(course: Path, questions: str) -> None:
    (course / TESTS_FILE).write_text(TESTS.replace("QUESTIONS", questions), "utf-8")


@pytest.mark.long
def test_mutant_that_survives(viva: Viva, scaled: Path) -> None:
    ask(scaled, WITH_A_HOLE)
    ran = viva("verify", "--mutants", "-o", "report")
    assert ran.status == 1
    assert "✗ words: your grader accepts this: solution.py, line 2, in scaled (filter_dropped)" in ran.out
    assert "    -    return [factor * number for number in numbers if number > 0]" in ran.out
    assert "    +    return [factor * number for number in numbers]" in ran.out
    report = json.loads(Path("report/words.json").read_text("utf-8"))
    assert report["survived"] == len(report["survivors"]) > 1
    assert report["mutants"] == report["killed"] + report["survived"] + report["equivalent"] + report["left_open"]
    assert str(scaled.parent) not in json.dumps(report)


@pytest.mark.long
def test_no_mutant_survives(viva: Viva, scaled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(scaled, COMPLETE)
    ran = viva("verify", "--mutants", "-o", ".")
    assert (ran.status, "✗" in ran.out) == (0, False), ran.out
    assert "100.0% of the others lose points" in ran.out
    once = Path("words.json").read_bytes()
    viva("verify", "--mutants", "-o", ".", "--workers", "1")
    assert Path("words.json").read_bytes() == once
    monkeypatch.setattr(general_mistakes, "installed", lambda: False)
    ran = viva("verify", "--mutants")
    assert ran.status == 0 and "cosmic_ray" not in ran.out
    assert "cosmic-ray is not installed (pip install 'viva-grader[mutants]')" in ran.sentence()


@pytest.mark.long
def test_equivalent_mutants_and_a_stale_row(viva: Viva, scaled: Path) -> None:
    ask(scaled, "[[1, -1, 2], []]")
    rows = scaled / "assignments/words/equivalent_mutants.yaml"
    row = '- {file: "FILE", function: scaled, was: "*", becomes: "*", left_open: true, reason: no zeros are asked}\n'
    rows.write_text(row.replace("FILE", "solution.py") + row.replace("FILE", "accepted/*"), "utf-8")
    ran = viva("verify", "--mutants")
    assert ran.status == 0 and " 0 do not, " in ran.out and " 0 left open" not in ran.out
    ask(scaled, COMPLETE)
    ran = viva("verify", "--mutants")
    assert ran.status == 1 and "equivalent_mutants.yaml, row 1: nothing that survives" in ran.out


@pytest.mark.long
def test_ten_mutants_in_every_verify(viva: Viva, scaled: Path) -> None:
    ask(scaled, COMPLETE)
    ran = viva("verify")
    assert ran.status == 0 and re.search(r"words: (\d+) of \1 broken right answers lose points\.", ran.out)
    assert ran.out.count("broken") == 1
    again = viva("verify", "--verbose")
    tried = [line.rpartition(" ")[0] for line in again.out.splitlines() if "mutant of" in line]
    assert 5 <= len(tried) <= 10 and len(set(tried)) == len(tried)
    ran = viva("verify", "--no-mutants")
    assert ran.status == 0 and "broken" not in ran.out
    ask(scaled, "[[]]")
    ran = viva("verify")
    assert ran.status == 1 and "your grader accepts this:" in ran.out and "+    return" in ran.out
