"""What staff and authors use besides grading: why, shell, diff, new-test, and plain pytest."""

import ast
import csv
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.run_command import Viva, program
from tests.support.words_course import KEEPS_CASE, RIGHT, SECRET, hand_in
from viva.authoring.by_hand_skeleton import KINDS

pytestmark = pytest.mark.long

STACK = """

class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, item: int) -> None:
        self.items.append(item)

    def height(self) -> int:
        return len(self.items)
"""

# --- why


def test_explain_shows_what_was_asked_and_answered(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    viva("grade", "bob", "-o", "results/bob.json")
    for source in ("results/bob.json", "bob"):
        ran = viva("explain", source, "test_word_counts")
        assert (ran.status, ran.err) == (0, "")
        assert "1.1 test_words.py::test_word_counts: failed, 0 of 4 points" in ran.out
        assert "word_counts('The cat and the hat')" in ran.out and "find" not in ran.out
        assert "→ {'The': 1, 'cat': 1, 'and': 1, 'the': 1, 'hat': 1}" in ran.out
        assert "test_total" not in ran.out


def test_explain_shows_staff_what_a_hidden_test_hides(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    ran = viva("explain", "bob", "test_random_texts")
    assert "asked by test_words.py::test_random_texts" in ran.out and "expected" in ran.out
    assert "asked by" not in viva("grade", "bob").out


def test_explain_shows_answers_that_are_not_code(viva: Viva, tmp_path: Path) -> None:
    folder = hand_in(tmp_path / "bob", KEEPS_CASE.replace("answers = ", "unused = "))
    (folder / "answers.yaml").write_text('"2.1": [A, B]\n', "utf-8")
    ran = viva("explain", "bob", "2.1")
    assert "failed" in ran.out and "read the answer to 2.1" in ran.out and "→ ['A', 'B']" in ran.out


def test_explain_asks_every_test_of_a_number(viva: Viva, tmp_path: Path) -> None:
    ran = viva("explain", hand_in(tmp_path / "ada"), "1.1")
    assert "test_word_counts: passed" in ran.out and "test_random_texts: passed" in ran.out


def test_explain_says_when_the_submission_has_changed_or_gone(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    viva("grade", "bob", "-o", "bob.json")
    hand_in(tmp_path / "bob", RIGHT)
    ran = viva("explain", "bob.json", "1.1")
    assert "has changed since it was graded" in ran.sentence() and "passed" in ran.out
    (tmp_path / "bob" / "solution.py").unlink()
    (tmp_path / "bob").rmdir()
    ran = viva("explain", "bob.json", "1.1")
    assert ran.status == 1 and "bob.json: the submission bob was not found here, next to its result" in ran.sentence()


def test_explain_finds_the_submission_wherever_it_is_run_from(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    viva("grade", "class", "-o", "graded")
    (graded,) = (tmp_path / "graded").rglob("results.json")
    elsewhere = tmp_path / "elsewhere"
    hand_in(elsewhere / "class" / "bob", RIGHT)  # of the same name, and not what was graded
    monkeypatch.chdir(elsewhere)
    ran = viva("explain", str(graded), "test_word_counts")
    assert (ran.status, ran.err) == (0, "") and "test_word_counts: failed" in ran.out


def test_explain_takes_no_folder_of_results_for_a_submission(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "class" / "bob", RIGHT)
    hand_in(tmp_path / "class" / "ada", RIGHT)
    viva("grade", "class", "--class", "-o", "graded")
    for result in ("graded/bob/results.json", "graded/bob"):
        ran = viva("explain", result, "1.1")
        assert ran.status == 1 and "the submission bob was not found here" in ran.sentence()
    ran = viva("explain", "class/bob", "1.1")
    assert ran.status == 0 and "test_word_counts: passed" in ran.out


def test_explain_wraps_long_values_at_words(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = viva("explain", hand_in(tmp_path / "bob", KEEPS_CASE), "1.1")
    lines = ran.out.splitlines()
    assert max(len(line) for line in lines if " " in line.strip()) <= 60
    assert "args=" not in ran.out and "'differs'" not in ran.out


def test_explain_knows_only_tests_that_exist(viva: Viva, tmp_path: Path) -> None:
    ran = viva("explain", hand_in(tmp_path / "ada"), "1.3")
    assert ran.status == 1 and "words has no test '1.3'" in ran.sentence() and "1.1, 1.2, 2.1, 2.2" in ran.sentence()


def test_what_a_student_prints_cannot_move_the_cursor_of_staff(viva: Viva, tmp_path: Path) -> None:
    evil = RIGHT.replace("return counts", "return {'\\x1b[2J\\x1b]0;owned\\x07': 1}")
    ran = viva("explain", hand_in(tmp_path / "eve", evil), "1.1")
    assert "\x1b" not in ran.out and "\x07" not in ran.out
    raising = RIGHT.replace("return counts", "raise ValueError('\\x1b[2J\\u202e')")
    ran = viva("grade", hand_in(tmp_path / "mallory", raising))
    assert "\x1b" not in ran.out and "\u202e" not in ran.out


# --- shell


def shell(path: Path, *lines: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        program("shell", path),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )


def test_the_shell_asks_as_a_test_would(tmp_path: Path) -> None:
    ran = shell(
        hand_in(tmp_path / "ada"),
        "list(student)",
        "student.total([1, 2])",
        "key.total([1, 2])",
        "submission.answers['2.1']",
        "for n in range(2):",
        "    print('n is', n)",
        "",
        "student.total.call([1]).value",
    )
    assert ran.returncode == 0 and "Traceback" not in ran.stderr
    for shown in ("['answers', 'total', 'word_counts']", "3", "'B'", "n is 1"):
        assert shown in ran.stdout
    assert "Words, isolation T" in ran.stderr and "student.f(...)" in ran.stderr


def test_the_shell_says_in_words_what_went_wrong_and_goes_on(tmp_path: Path) -> None:
    source = RIGHT + "\n\ndef ends():\n    import os\n    os._exit(3)\n\n\ndef hangs():\n    while True: pass\n"
    ran = shell(
        hand_in(tmp_path / "ada", source),
        "student.totl",
        "student.total(3)",
        "student.ends()",
        "student.hangs()",
        "student.total == 3",
        "1 / 0",
        "student.total([20, 22])",
    )
    assert ran.returncode == 0 and "42" in ran.stdout
    for words in (
        "`totl` is not defined in your submission (did you mean `total`?).",
        "Your code raised TypeError: 'int' object is not iterable.",
        "exit status 3",
        "did not finish in time",
        "means nothing here: compare with agree(...)",
        "ZeroDivisionError",
    ):
        assert words in ran.stderr, ran.stderr
    assert "StudentRaised" not in ran.stderr and "MissingName" not in ran.stderr


def test_the_shell_opens_on_work_that_does_not_load(tmp_path: Path) -> None:
    ran = shell(
        hand_in(tmp_path / "eve", "import os\n" + 4 * "os._exit(3)\n"), "submission.files", "student.total([1])"
    )
    assert ran.returncode == 0
    assert "ended the Python process each time it was loaded" in ran.stdout + ran.stderr


def test_ctrl_c_at_the_prompt_stops_the_question_and_not_the_shell(tmp_path: Path) -> None:
    source = RIGHT + "\n\ndef hangs():\n    while True: pass\n"
    process = subprocess.Popen(
        program("shell", hand_in(tmp_path / "ada", source)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=dict(os.environ), bufsize=1,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("print('ready')\nstudent.hangs()\n")
    while "ready" not in process.stdout.readline():
        pass
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate("student.total([20, 22])\n", timeout=600)
    assert process.returncode == 0 and "42" in out
    assert "Stopped; the submission is loaded again when it is asked next." in err and "Traceback" not in err


# --- diff


def test_diff_of_two_results_says_what_changed(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    viva("grade", "bob", "-o", "before.json")
    hand_in(tmp_path / "bob", RIGHT)
    viva("grade", "bob", "-o", "after.json")
    ran = viva("diff", "before.json", "after.json")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        "after.json",
        "  3 of 9 points, 1 more pending → 9 of 9 points, 1 more pending (+6)",
        "  test_words.py::test_word_counts: failed 0 / 4 → passed 4 / 4 (+4)",
        "  test_words.py::test_random_texts: failed 0 / 2 → passed 2 / 2 (+2)",
        "  the submission itself is not the same",
        "1 of 1 results differ.",
    ]
    assert "    A: word_counts('The cat" in viva("diff", "before.json", "after.json", "--verbose").out
    ran = viva("diff", "after.json", "after.json")
    assert (ran.status, ran.out) == (0, "0 of 1 results differ.\n")


def test_diff_of_two_folders_pairs_results_by_their_paths(
    viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in {"ada": RIGHT, "bob": KEEPS_CASE, "eve": RIGHT}.items():
        hand_in(tmp_path / name, source)
    viva("grade", "ada", "bob", "-o", "one")
    monkeypatch.setenv("VIVA_SECRET", SECRET + " of another year")
    hand_in(tmp_path / "bob", RIGHT)
    viva("grade", "bob", "eve", "-o", "two")
    ran = viva("diff", "one", "two", "--csv", "changes.csv")
    assert ran.status == 1
    assert ran.out.startswith("bob/results.json\n")  # what changed most comes first
    assert "1 with more points, 0 with fewer, +6 points.\n" in ran.out
    changes = list(csv.DictReader((tmp_path / "changes.csv").read_text("utf-8").splitlines()))
    assert [(row["result"], row["test"], row["change"]) for row in changes] == [
        ("bob/results.json", "total", "6"),
        ("bob/results.json", "test_words.py::test_word_counts", "4"),
        ("bob/results.json", "test_words.py::test_random_texts", "2"),
        ("ada/results.json", "total", ""),
        ("eve/results.json", "total", ""),
    ]
    assert "ada/results.json\n  only in A: 9 of 9 points, 1 more pending\n" in ran.out
    assert "eve/results.json\n  only in B: 9 of 9 points, 1 more pending\n" in ran.out
    assert "bob/results.json\n  3 of 9 points" in ran.out and "made with another seed" in ran.out
    assert ran.out.endswith("3 of 3 results differ.\n")


# --- new-test


def skeletons(course: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted((course / "graders/words").glob("test_*.py"))}


def test_a_skeleton_runs_as_it_is(viva: Viva, own_course: Path) -> None:
    key = own_course / "graders/words/key.py"
    key.write_text(
        key.read_text("utf-8") + "\n\ndef longest(texts: list[str], at_least: int = 0) -> str:\n"
        '    return max(texts, key=len, default="")\n',
        "utf-8",
    )
    ran = viva("new-test", "3.1", "longest")
    assert ran.status == 0 and "test_3_1.py: draw what the question is about" in ran.out
    text = skeletons(own_course)["test_3_1.py"]
    ast.parse(text)
    assert '@number("3.1")' in text and "student.longest(texts), key.longest(texts)" in text and ".tolist()" in text
    assert "test_3_1.py has a test_longest already" in viva("new-test", "3.1", "longest").sentence()
    assert skeletons(own_course)["test_3_1.py"] == text
    ran = viva("verify", "--verbose")
    assert "the tests add up to 11 points, but assignment.yaml says 10" in ran.out
    assert "✓ holds   words: key" in ran.out
    assert viva("new-test", "3.1", "total").status == 0
    assert skeletons(own_course)["test_3_1.py"].startswith(text)


def test_the_function_can_be_left_out_where_one_is_left(viva: Viva, own_course: Path) -> None:
    ran = viva("new-test", "3.1")
    assert ran.status == 1 and "a test asks each function of the key already" in ran.sentence()
    key = own_course / "graders/words/key.py"
    (own_course / "reference").mkdir()
    lengths = own_course / "reference/lengths.py"
    lengths.write_text("def lengths(words: list[str]) -> list[int]:\n    return []\n", "utf-8")
    key.write_text("from reference.lengths import lengths as word_lengths\n" + key.read_text("utf-8"), "utf-8")
    assert viva("new-test", "3.2 (b)").status == 0
    assert "def test_word_lengths(student, key, rng):" in skeletons(own_course)["test_3_2_b.py"]
    more = "\n\ndef other(x: float):\n    return x\n\n\ndef another():\n    return 1\n"
    key.write_text(key.read_text("utf-8") + more, "utf-8")
    ran = viva("new-test", "3.3")
    assert ran.status == 1 and "no test asks other, another yet" in ran.sentence()
    key.write_text("def broken(:", "utf-8")
    ran = viva("new-test", "3.3")
    assert ran.status == 1 and "key.py is not valid Python" in ran.sentence()
    assert "test_3_3.py" not in skeletons(own_course)


def test_a_new_test_leaves_what_is_there_as_it_was(viva: Viva, own_course: Path) -> None:
    windows, empty = (own_course / "graders/words" / f"test_{name}.py" for name in ("9_1", "9_2"))
    windows.write_bytes(b"from viva.grading import agree, number, weight\r\n")
    empty.touch()
    assert viva("new-test", "9.1", "total").status == viva("new-test", "9.2", "total").status == 0
    assert windows.read_bytes().startswith(b"from viva.grading import agree, number, weight\r\n\n\n@number")
    assert empty.read_text("utf-8").startswith('"""Question 9.2."""')


def test_a_new_assignment_with_every_kind_of_question_is_verified(viva: Viva, own_course: Path) -> None:
    ran = viva("new", "hw_2", "--title", "Second homework")
    assert (ran.status, ran.err) == (0, "") and "Next: viva verify hw_2" in ran.out
    ran = viva("verify", "hw_2", "--tier", "T0")
    assert ran.status == 0 and "0 do not" in ran.out, ran.out + ran.err
    key = own_course / "graders/hw_2/key.py"
    key.write_text(key.read_text("utf-8") + STACK, "utf-8")
    assert viva("new-test", "2.1", "Stack", "-a", "hw_2").status == 0
    for number, kind in enumerate(KINDS):
        ran = viva("new-test", f"3.{number}", "--answer", kind, "-a", "hw_2")
        assert ran.status == 0 and f"complete question 3.{number}" in ran.out, ran.err
    settings = own_course / "assignments/hw_2/assignment.yaml"
    settings.write_text(settings.read_text("utf-8").replace("points: 12", "points: 18"), "utf-8")
    ran = viva("verify", "hw_2", "--tier", "T0", "--verbose")
    assert "✓ holds   hw_2: key" in ran.out, ran.out + ran.err
