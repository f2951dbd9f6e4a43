"""`viva explain`: what a test asked and got, for staff; `viva shell`: a submission asked by hand."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.run_command import Viva, program
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in

pytestmark = pytest.mark.long


def test_explain_result_or_submission(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    hand_in(tmp_path / "bob", KEEPS_CASE)
    viva("grade", "bob", "-o", "results/bob.json")
    for source in ("results/bob.json", "bob"):
        ran = viva("explain", source, "test_word_counts")
        assert (ran.status, ran.err) == (0, "")
        assert "1.1 test_words.py::test_word_counts: failed, 0 of 4 points" in ran.out
        assert "word_counts('The cat and the hat')" in ran.out and "find" not in ran.out
        assert "→ {'The': 1, 'cat': 1, 'and': 1, 'the': 1, 'hat': 1}" in " ".join(ran.out.split())
        assert "test_total" not in ran.out
        assert max(len(line) for line in ran.out.splitlines() if " " in line.strip()) <= 60


def test_explain_every_test_of_a_number(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "bob", KEEPS_CASE)
    ran = viva("explain", "bob", "1.1")
    assert "test_word_counts: failed" in ran.out
    assert "asked by test_words.py::test_random_texts" in ran.out and "expected" in ran.out, "a hidden test"
    assert "asked by" not in viva("grade", "bob").out
    ran = viva("explain", "bob", "1.3")
    assert ran.status == 1 and "words has no test '1.3'" in ran.sentence() and "1.1, 1.2, 2.1, 2.2" in ran.sentence()


def test_explain_finds_the_submission(viva: Viva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From wherever it is run; work that has changed since or is gone is said."""
    hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    viva("grade", "class", "-o", "graded")
    (graded,) = (tmp_path / "graded").rglob("results.json")
    elsewhere = tmp_path / "elsewhere"
    hand_in(elsewhere / "class" / "bob", RIGHT)  # of the same name, and not what was graded
    monkeypatch.chdir(elsewhere)
    ran = viva("explain", graded, "test_word_counts")
    assert (ran.status, ran.err) == (0, "") and "test_word_counts: failed" in ran.out
    hand_in(tmp_path / "class" / "bob", RIGHT)
    ran = viva("explain", graded, "1.1")
    assert "has changed since it was graded" in ran.sentence() and "passed" in ran.out
    shutil.rmtree(tmp_path / "class")
    shutil.rmtree(elsewhere / "class")
    for result in (graded, graded.parent):  # a folder of results is no submission
        ran = viva("explain", result, "1.1")
        assert ran.status == 1 and "was not found here" in ran.sentence()


def test_student_cannot_move_the_cursor_of_staff(viva: Viva, tmp_path: Path) -> None:
    evil = RIGHT.replace("return counts", "return {'\\x1b[2J\\x1b]0;owned\\x07': 1}")
    ran = viva("explain", hand_in(tmp_path / "eve", evil), "1.1")
    assert "\x1b" not in ran.out and "\x07" not in ran.out
    raising = RIGHT.replace("return counts", "raise ValueError('\\x1b[2J\\u202e')")
    ran = viva("grade", hand_in(tmp_path / "mallory", raising))
    assert "\x1b" not in ran.out and "\u202e" not in ran.out


# --- shell

HANGS = RIGHT + "\n\ndef hangs():\n    while True: pass\n"


def shell(path: Path, *lines: str) -> "subprocess.CompletedProcess[str]":
    text = "\n".join(lines) + "\n"
    return subprocess.run(program("shell", path), input=text, capture_output=True, text=True, check=False)


def test_shell_asks_as_a_test_would(tmp_path: Path) -> None:
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


def test_shell_says_what_went_wrong_and_goes_on(tmp_path: Path) -> None:
    ran = shell(
        hand_in(tmp_path / "ada", HANGS + "\n\ndef ends():\n    import os\n    os._exit(3)\n"),
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


def test_shell_on_work_that_does_not_load(tmp_path: Path) -> None:
    folder = hand_in(tmp_path / "eve", "import os\n" + 4 * "os._exit(3)\n")
    ran = shell(folder, "submission.files", "student.total([1])")
    assert ran.returncode == 0
    assert "ended the Python process each time it was loaded" in ran.stdout + ran.stderr


def test_ctrl_c_at_the_prompt(tmp_path: Path) -> None:
    """It stops the question and not the shell."""
    process = subprocess.Popen(
        program("shell", hand_in(tmp_path / "ada", HANGS)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        bufsize=1,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("print('ready')\nstudent.hangs()\n")
    while "ready" not in process.stdout.readline():
        pass
    time.sleep(0.3)  # the question has begun; nothing tells of it
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate("student.total([20, 22])\n", timeout=600)
    assert process.returncode == 0 and "42" in out
    assert "Stopped; the submission is loaded again when it is asked next." in err and "Traceback" not in err
