"""A course for live notebooks: its tests change arguments, set names, put files, and one question trains."""

from pathlib import Path

from tests.support.words_course import ASSIGNMENT, KEY, TESTS, write_course

MORE_TESTS = '''

import numpy as np
import pytest


@number("3.1")
@weight(3)
def test_sorted(student, key):
    """A list is sorted in place."""
    done = student.sort_in_place.call([3, 1, 2])
    agree(done.args_after[0], [1, 2, 3])


@number("3.2")
@weight(1)
def test_scaled(student, submission):
    """The scale is a variable of the notebook."""
    submission.set(scale=10)
    agree(student.scaled(2.0), 20.0)


@number("3.3")
@weight(1)
def test_first_line(student, submission):
    """The first line of a file beside the notebook."""
    submission.put("data/lines.txt", b"first\\nsecond\\n")
    agree(student.first_line("data/lines.txt"), "first")


@number("4.1")
@weight(5)
@pytest.mark.training
def test_trained(student):
    """A model is trained."""
    agree(student.train(), 1)


@number("4.2")
@weight(7)
@pytest.mark.gpu
def test_on_gpu(student):
    """A model is moved to a GPU."""
    agree(student.train(), 1)
'''
LIVE = """\
import numpy as np

scale = 3
log = []


def sort_in_place(items):
    items.sort()
    log.append("sorted")


def scaled(x):
    return x * scale


def first_line(path):
    with open(path) as file:
        return file.readline().strip()
"""


def write_live_course(root: Path) -> Path:
    """The course in `root`; returns it.

    27 points: 4 and 2 (hidden), 2, 1 and 1 (written), 3, 1, 1, 5 (training), 7 (GPU).
    """
    write_course(root)
    (root / "graders/words/test_words.py").write_text(TESTS + MORE_TESTS, "utf-8")
    (root / "graders/words/key.py").write_text(KEY, "utf-8")
    text = ASSIGNMENT.replace("points: 10", "points: 27")
    (root / "assignments/words/assignment.yaml").write_text(text, "utf-8")
    return root
