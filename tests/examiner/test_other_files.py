"""Names count whichever file defines them: code next to the main file is run when a test asks for what it defines."""

import io
import json
import zipfile
from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import Examined, examiner_fixture, by_name, read_by_students, statuses, write_course

TESTS = '''
from viva.grading import agree, agree_number, visibility, weight


@weight(1)
def test_double(student, key):
    """In the main file."""
    agree(student.double(2), key.double(2))


@weight(1)
def test_triple(student, key):
    """Beside it."""
    agree(student.triple(2), key.triple(2))


@weight(1)
def test_hang(student):
    """Costs a box."""
    agree(student.hang(), 1)


@weight(1)
def test_triple_again(student, key):
    """Beside it, in a fresh box."""
    agree(student.triple(3), key.triple(3))


@weight(1)
def test_module(submission, key):
    """A file by its name."""
    agree(submission.module("extra").triple(2), key.triple(2))


@weight(1)
def test_answer(submission):
    """An answer in a file of its own."""
    agree_number(submission.answers["1.1"], 7)


@weight(1)
def test_optional_answer(submission):
    """An answer that may be left out."""
    assert "1.1" in submission.answers and submission.answers.get("1.1") == 7
    assert "9.9" not in submission.answers and submission.answers.get("9.9", "none") == "none"


@weight(1)
@visibility("hidden")
def test_hidden(student):
    """Asks for what no file defines."""
    agree(student.nowhere("a hidden word"), 1)
'''
KEY = "def double(n): return 2 * n\ndef triple(n): return 3 * n\n"
MAIN = "def double(n): return 2 * n\n"
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


def test_a_file_that_nobody_needs_is_not_run(examined: Examined) -> None:
    files = {"solution.py": MAIN + EXTRA, "zz_scratch.py": "raise ValueError('was run')\n"}
    assert by_name(examined.score(files, "test_triple"))["test_triple"].status == "passed"
    assert "was run" not in read_by_students(examined.score(files, "test_triple"))


@pytest.mark.parametrize(
    "source", ["import os\nos._exit(3)\n", "while True: pass\n", "import os, signal\nos.kill(os.getpid(), 9)\n"]
)
def test_a_file_that_ends_its_box_costs_only_itself(examined: Examined, source: str) -> None:
    score = examined.score({"solution.py": MAIN, "a_bad.py": source, "extra.py": EXTRA}, "test_double", "test_triple")
    assert statuses(score) == {"test_double": "passed", "test_triple": "passed"}
    assert "a_bad.py" in read_by_students(score)


def test_code_that_is_run_after_a_hidden_question_tells_nothing(examined: Examined) -> None:
    spying = (
        "import gc\nraise ValueError([o for o in gc.get_objects() if 'hidden word' in str(o)][:1] or 'hidden word')\n"
    )
    score = examined.score({"solution.py": MAIN + EXTRA, "spy.py": spying}, "test_hidden")
    assert statuses(score) == {"test_hidden": "failed"}
    assert "hidden word" not in read_by_students(score)


def test_archives_in_archives_are_unpacked_where_they_hold_the_work(examined: Examined) -> None:
    inner = packed({"hw/solution.py": MAIN.encode(), "hw/data.zip": b"no archive"})
    outer = packed({"1234/hw1.zip": packed({"Ada/hw1.zip": inner}), "__MACOSX/._hw1.zip": b"x"})
    assert statuses(examined.score({"all.zip": outer}, "test_double")) == {"test_double": "passed"}
    beside = packed({"solution.py": MAIN.encode(), "data.zip": packed({"double.py": b"raise ValueError('was run')"})})
    assert statuses(examined.score({"all.zip": beside}, "test_double")) == {"test_double": "passed"}


def test_a_large_file_beside_the_work_costs_nothing(examined: Examined) -> None:
    files = {"solution.py": MAIN, "report.pdf": b"%PDF" + bytes(9 << 20)}
    assert statuses(examined.score(files, "test_double")) == {"test_double": "passed"}


def test_a_large_notebook_in_an_archive_is_read(examined: Examined) -> None:
    cells = [{"cell_type": "code", "source": MAIN, "outputs": [{"data": {"image/png": "A" * (9 << 20)}}]}]
    notebook = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}).encode()
    assert statuses(examined.score({"all.zip": packed({"work.ipynb": notebook})}, "test_double")) == {
        "test_double": "passed"
    }


READS = "def double(n): return n * int(open('two.txt').read())\n"
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": READS}], "nbformat": 4, "metadata": {}})


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
def test_a_submission_works_in_the_folder_of_its_file(examined: Examined, files: dict[str, str]) -> None:
    assert statuses(examined.score(files, "test_double")) == {"test_double": "passed"}
    zipped = packed({path: text.encode() for path, text in files.items()})
    assert statuses(examined.score({"all.zip": zipped}, "test_double")) == {"test_double": "passed"}


def test_a_large_file_in_an_archive_costs_nothing(examined: Examined) -> None:
    large = packed({"hw/model.pt": bytes(34 << 20), "hw/solution.py": MAIN.encode()})
    score = examined.score({"all.zip": large}, "test_double")
    assert statuses(score) == {"test_double": "passed"} and score.notes == ()


def packed(files: dict[str, bytes]) -> bytes:
    """A zip archive of the files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
