"""`pytest graders/<a> --submission PATH`: an ordinary pytest run on one submission."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.words_course import KEEPS_CASE, RIGHT, edit, hand_in, hand_in_notebook

pytestmark = pytest.mark.long

RunPytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_pytest(course: Path) -> RunPytest:
    def call(*arguments: object) -> "subprocess.CompletedProcess[str]":
        without = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # which takes longer to load than all else
        command = [sys.executable, "-m", "pytest", *without, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=course, env=dict(os.environ))

    return call


def test_authors_own_lines(run_pytest: RunPytest, tmp_path: Path) -> None:
    bob = hand_in_notebook(tmp_path / "bob", KEEPS_CASE, "1 / 0")
    ran = run_pytest("graders/words", "--submission", bob, "-k", "counts", "-x")
    assert ran.returncode == 1 and "1 failed, 4 deselected" in ran.stdout
    assert "agree(student.word_counts(text)" in ran.stdout and "expected" in ran.stdout
    assert "src/viva" not in ran.stdout  # the traceback ends in the test
    assert "note: While loading, cell 2 of work.ipynb: Your code raised ZeroDivisionError" in ran.stdout
    eve = hand_in(tmp_path / "eve", RIGHT.replace("result = 0", "raise ValueError('no')"))
    ran = run_pytest("graders/words", "--submission", eve, "-k", "total")
    assert "the student reads: Your code raised ValueError: no." in ran.stdout and "solution.py, line" in ran.stdout


def test_wrong_options(run_pytest: RunPytest, tmp_path: Path) -> None:
    ada = hand_in(tmp_path / "ada")
    for arguments, said in {
        ("--submission", tmp_path / "nowhere"): "nowhere: no such file or folder",
        ("--submission", ada, "--tier", "T9"): "--tier is 'T9'; allowed: T0, T1, T2, T3",
        ("--submission", ada, "--course", tmp_path): "but there is no grader.yaml in it",
    }.items():
        ran = run_pytest("graders/words", *arguments)
        assert ran.returncode == 4 and said in ran.stderr and "Traceback" not in ran.stdout + ran.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", "short")
        ran = run_pytest("graders/words", "--submission", ada)
    assert ran.returncode == 4 and "has 5 bytes" in ran.stderr and "Traceback" not in ran.stdout + ran.stderr
    ran = run_pytest("graders/words/test_words.py")
    assert ran.returncode == 1 and "run it with `viva grade`, or with `pytest … --submission PATH`" in ran.stdout


MARKED = '''\
import pytest
from viva.grading import agree, number, weight


@number("1")
@weight(1)
def test_first(student, key):
    """Words are counted."""
    agree(student.word_counts("A a"), key.word_counts("A a"))


@number("2")
@weight(1)
@pytest.mark.depends("test_first")
def test_second(student, key):
    """Numbers are added up."""
    agree(student.total([1, 2]), key.total([1, 2]))


@number("3")
@weight(1)
@pytest.mark.depends("test_second")
def test_third(student):
    """Nothing is asked."""


@number("4")
@weight(1)
@pytest.mark.gpu(memory_mib=10_000_000)
def test_on_a_gpu(student):
    """More memory than any GPU has."""


@number("5")
@weight(1)
@pytest.mark.training
def test_that_trains(student):
    """It trains."""


@number("6")
@weight(1)
@pytest.mark.depends("test_that_trains")
def test_after_training(student):
    """What was trained is asked."""
'''


def test_markers_choose_and_skip_tests(own_course: Path, run_pytest: RunPytest, tmp_path: Path) -> None:
    (own_course / "graders/words/test_words.py").write_text(MARKED, "utf-8")
    (own_course / "graders/words/key.py").write_text(RIGHT, "utf-8")
    bob, ada = hand_in(tmp_path / "bob", KEEPS_CASE), hand_in(tmp_path / "ada")

    def outcomes(*arguments: object) -> dict[str, str]:
        lines = run_pytest(own_course / "graders/words", "-v", "-rs", *arguments).stdout.splitlines()
        return {line.split("::")[1].split()[0]: line.split()[1] for line in lines if "::test_" in line and "%]" in line}

    passed = {"test_first": "PASSED", "test_second": "PASSED", "test_third": "PASSED"}
    trained = {"test_that_trains": "PASSED", "test_after_training": "PASSED"}
    assert outcomes("--submission", ada) == passed | {"test_on_a_gpu": "SKIPPED"} | trained
    lost = {"test_first": "FAILED", "test_second": "SKIPPED", "test_third": "SKIPPED"}
    assert outcomes("--submission", bob) == lost | {"test_on_a_gpu": "SKIPPED"} | trained
    assert outcomes("--submission", bob, "-k", "third") == lost  # what it depends on is asked, as with --only
    assert outcomes("--submission", ada, "-k", "after") == {"test_after_training": "PASSED"}
    left = outcomes("--submission", ada, "-m", "not training")
    assert left == passed | {"test_on_a_gpu": "SKIPPED", "test_after_training": "PASSED"}
    alone = own_course / "graders/words/test_words.py::test_second"
    ran = run_pytest(alone, "--submission", bob)
    assert ran.returncode == 0 and "1 passed" in ran.stdout


def test_two_assignments_in_one_run(own_course: Path, run_pytest: RunPytest, tmp_path: Path) -> None:
    for path in [p for p in own_course.rglob("*") if p.is_file() and "words" in p.parts]:
        other = own_course / path.relative_to(own_course).parent.with_name("others") / path.name
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(path.read_bytes())
    edit(own_course / "grader.yaml", "[words]", "[words, others]")
    (own_course / "graders/others/key.py").write_text(KEEPS_CASE, "utf-8")
    named = ["graders/words/test_words.py::test_word_counts", "graders/others/test_words.py::test_word_counts"]
    paths = [own_course / name for name in named]
    for submission, passed in {RIGHT: "words", KEEPS_CASE: "others"}.items():
        ran = run_pytest(
            "-v", "--import-mode=importlib", *paths, "--submission", hand_in(tmp_path / passed, submission)
        )
        lines = [line for line in ran.stdout.splitlines() if "%]" in line]
        assert {f"graders/{passed}/" in line: "PASSED" in line for line in lines} == {True: True, False: False}, ran
