"""Names count whichever file defines them: which files are run when, and what large and costly ones cost."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.support.course_of_texts import (
    NAME,
    Examined,
    by_name,
    examiner_fixture,
    handed_in,
    read_by_students,
    statuses,
    write_course,
)
from tests.support.editable_submission import zipped
from tests.support.words_course import cell, notebook
from viva.config import Course
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader

TESTS = """
from viva.grading import agree, agree_number, visibility

def test_double(student, key):
    agree(student.double(2), key.double(2))

def test_triple(student, key):
    agree(student.triple(2), key.triple(2))

def test_hang(student):
    agree(student.hang(), 1)

def test_triple_again(student, key):
    agree(student.triple(3), key.triple(3))

def test_module(submission, key):
    agree(submission.module("extra").triple(2), key.triple(2))

def test_answer(submission):
    agree_number(submission.answers["1.1"], 7)

def test_optional_answer(submission):
    assert "1.1" in submission.answers and submission.answers.get("1.1") == 7
    assert "9.9" not in submission.answers and submission.answers.get("9.9", "none") == "none"

@visibility("hidden")
def test_hidden(student):
    agree(student.nowhere("a hidden word"), 1)
"""
KEY = "def double(n): return 2 * n\ndef triple(n): return 3 * n\n"
MAIN = "def double(n): return 2 * n\n"
PASSED = {"test_double": "passed"}
EXTRA = "def triple(n): return 3 * n\ndef hang():\n    while True: pass\n"


examined = examiner_fixture(tests=TESTS, key=KEY, settings="limits: {call_s: 1, load_s: 1}\n")


def test_every_file_counts(examined: Examined) -> None:
    score = examined.score({"solution.py": MAIN, "extra.py": EXTRA, "answers.py": "answers = {1.1: 7}\n"})
    assert statuses(score) == {
        "test_double": "passed",
        "test_triple": "passed",
        "test_hang": "timeout",
        "test_triple_again": "passed",
        "test_module": "passed",
        "test_answer": "passed",
        "test_optional_answer": "passed",
        "test_hidden": "failed",
    }


def test_unneeded_file_is_not_run(examined: Examined) -> None:
    files = {"solution.py": MAIN + EXTRA, "zz_scratch.py": "raise ValueError('was run')\n"}
    assert by_name(examined.score(files, "test_triple"))["test_triple"].status == "passed"
    assert "was run" not in read_by_students(examined.score(files, "test_triple"))


@pytest.mark.parametrize(
    "source", ["import os\nos._exit(3)\n", "while True: pass\n", "import os, signal\nos.kill(os.getpid(), 9)\n"]
)
def test_file_that_ends_its_box(examined: Examined, source: str) -> None:
    score = examined.score({"solution.py": MAIN, "a_bad.py": source, "extra.py": EXTRA}, "test_double", "test_triple")
    assert statuses(score) == {"test_double": "passed", "test_triple": "passed"}
    assert "a_bad.py" in read_by_students(score)


def test_file_run_after_hidden_question(examined: Examined) -> None:
    spying = (
        "import gc\nraise ValueError([o for o in gc.get_objects() if 'hidden word' in str(o)][:1] or 'hidden word')\n"
    )
    score = examined.score({"solution.py": MAIN + EXTRA, "spy.py": spying}, "test_hidden")
    assert statuses(score) == {"test_hidden": "failed"}
    assert "hidden word" not in read_by_students(score)


def test_archives_in_archives(examined: Examined) -> None:
    inner = zipped({"hw/solution.py": MAIN.encode(), "hw/data.zip": b"no archive"})
    outer = zipped({"1234/hw1.zip": zipped({"Ada/hw1.zip": inner}), "__MACOSX/._hw1.zip": b"x"})
    assert statuses(examined.score({"all.zip": outer}, "test_double")) == PASSED
    beside = zipped({"solution.py": MAIN.encode(), "data.zip": zipped({"double.py": b"raise ValueError('was run')"})})
    assert statuses(examined.score({"all.zip": beside}, "test_double")) == PASSED


def test_large_notebook_in_archive(examined: Examined) -> None:
    large = notebook(cell(MAIN, outputs=[{"data": {"image/png": "A" * (9 << 20)}}]))
    assert statuses(examined.score({"all.zip": zipped({"work.ipynb": large})}, "test_double")) == PASSED


READS = "def double(n): return n * int(open('two.txt').read())\n"
NOTEBOOK = notebook(READS)


@pytest.mark.parametrize(
    "files",
    [
        {"src/solution.py": READS, "src/two.txt": "2"},
        {"a/b/lab.ipynb": NOTEBOOK, "a/b/two.txt": "2"},
        {"hw/lab.ipynb": NOTEBOOK, "two.txt": "2"},
        {"src/solution.py": READS.replace("two.txt", "data/two.txt"), "data/two.txt": "2"},
        {"src/solution.py": READS.replace("two.txt", "../data/two.txt"), "data/two.txt": "2"},
        {"src/solution.py": "from own import double\n", "src/own.py": READS, "src/two.txt": "2"},
    ],
)
def test_working_folder(examined: Examined, files: dict[str, str]) -> None:
    assert statuses(examined.score(files, "test_double")) == PASSED
    assert statuses(examined.score({"all.zip": zipped(files)}, "test_double")) == PASSED


def test_large_file_costs_nothing(examined: Examined) -> None:
    large = zipped({"hw/model.pt": bytes(34 << 20), "hw/solution.py": MAIN.encode()})
    score = examined.score({"all.zip": large}, "test_double")
    assert statuses(score) == PASSED and score.notes == ()
    beside: dict[str, str | bytes] = {"solution.py": MAIN, "report.pdf": b"%PDF" + bytes(9 << 20)}
    assert statuses(examined.score(beside, "test_double")) == PASSED


TWO_FILES_TESTS = '''
def test_both(submission):
    """The names."""
    own = submission.preferring("second")
    assert (own.where(), own["only_here"]()) == ("second", "first")
    assert "where" in own and "nowhere" not in own
    own.nowhere()


def test_source(submission):
    """The text."""
    assert submission.source("second.py").startswith("# é")
'''
TWO_FILES = {
    "first.py": "def where(): return 'first'\ndef only_here(): return 'first'\n",
    "second.py": "# é\ndef where(): return 'second'\n",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_preferring_a_file(tmp_path: Path, encoding: str) -> None:
    settings = "submission: {module: first.py}\n"  # so that second.py is loaded when it is asked for
    files: dict[str, str | bytes] = {name: text.encode(encoding) for name, text in TWO_FILES.items()}
    with Examined(write_course(tmp_path, tests=TWO_FILES_TESTS, key="", settings=settings)) as examined:
        names, source = examined.score(files).entries
    assert "nowhere" in names.message and "not define" in names.message, names.message
    assert source.status.value == "passed", source.message


STARTED_TESTS = """
from viva.grading import agree

def test_double(student, key):
    agree(student.double(2), key.double(2))
"""
STARTED_KEY = "def double(n): return 2 * n\n"
STARTER = "def double(n):\n    raise NotImplementedError\n"
MUCH = "\n".join(f"def helper_{n}(x):\n    return x + {n}" for n in range(4000))
STARTED_SETTINGS = "submission: {module: solution.py, notebook: '*.ipynb'}\n"


def course_with_starter(root: Path) -> Course:
    course = write_course(root, tests=STARTED_TESTS, key=STARTED_KEY, settings=STARTED_SETTINGS)
    starter = root / f"assignments/{NAME}/starter/solution.py"
    starter.parent.mkdir()
    starter.write_text(STARTER, "utf-8")
    return course


def test_costly_files_are_graded(tmp_path: Path) -> None:
    with Examined(course_with_starter(tmp_path)) as examined:
        right = {
            "solution.py": STARTER,
            "work.ipynb": notebook(cell(f"{MUCH}\n{STARTED_KEY}", outputs=["1, " * 300_000])),
        }
        assert statuses(examined.score(right)) == {"test_double": "passed"}
        nested = ",".join(["[" * 20 + "{}" + "]" * 20] * 200_000)
        score = examined.score({"work.ipynb": f'{{"cells":[{{"source":"x","metadata":{{"a":[{nested}]}}}}]}}'})
        assert statuses(score) == {"test_double": "failed"}
        assert "far too many values" in read_by_students(score)


def test_reading_takes_time_of_submission(tmp_path: Path) -> None:
    assignment = course_with_starter(tmp_path).assignment(NAME)
    loader = Loader(handed_in(STARTED_KEY), assignment, {})
    session = BoxSession(Mock(), loader, assignment.limits)
    with loader.reading():
        sum(range(1_000_000))
    assert 0 < loader.read_s == session.counted_s
