"""A small course that can be released: a public and a hidden test, two right submissions, a starter."""

from pathlib import Path

from viva.config import Course, load_course

SECRET = b"the secret of a small course"
TESTS = '''
"""Sums."""
import numpy as np
from viva.grading import agree, agree_on, number, strategies, visibility, weight

SHOWN = [1, 2, 3]
KEPT_BACK = [123457, 765431]


@number("1")
@weight(2)
def test_sum(student, key, rng):
    """The sum of some numbers."""
    for numbers in [SHOWN, rng.integers(9, size=4).tolist()]:
        agree(student.total(numbers), key.total(numbers), hints={"the mean": lambda: key.mean(numbers)})


@number("2")
@weight(2)
def test_sorted(student, key):
    """Any words in order."""
    agree_on(student.in_order, key.in_order, strategies.token_lists("abc"), examples=20)


@number("3")
@weight(1)
def test_answer(submission, key):
    """A number worked out by hand."""
    agree(submission.answers["3"], key.answers["3"])


@number("4")
@weight(1)
def test_record(student, key):
    """The smallest."""
    found = key.span(np.array(SHOWN))
    agree(student.low(np.array(SHOWN)), found.low)


@number("5")
@weight(4)
@visibility("after_published")
def test_hidden(student, key):
    """The same, for numbers nobody knows of."""
    agree(student.total(KEPT_BACK), key.total(KEPT_BACK))
'''
KEY = '''
"""The model answers."""
from reference.sums import running_total, Span

answers = {"3": "a secret answer of 42"}


def total(numbers):
    return running_total(numbers)


def mean(numbers):
    return running_total(numbers) / len(numbers)


def in_order(words):
    return sorted(words)


def low(numbers):
    return min(numbers)


def span(numbers):
    return Span(min(numbers), max(numbers))
'''
REFERENCE = '''
"""Sums."""
import dataclasses


@dataclasses.dataclass
class Span:
    low: float
    high: float


def running_total(numbers):
    accumulated_by_the_reference = sum(int(number) for number in numbers)
    return accumulated_by_the_reference
'''
RIGHT = """
answers = {"3": "a secret answer of 42"}


def total(numbers):
    return sum(numbers)


def in_order(words):
    return sorted(words)


def low(numbers):
    return min(numbers)
"""
ALSO_RIGHT = RIGHT.replace("sum(numbers)", "sum(list(numbers))").replace("return min", "return +min")
STARTER = """
answers = {"3": ""}


def total(numbers):
    raise NotImplementedError


def in_order(words):
    raise NotImplementedError


def low(numbers):
    raise NotImplementedError
"""


def write_course(root: Path, *, settings: str = "", starter: str = STARTER, **changed: str) -> Course:
    """The course in a folder; `changed` replaces texts of the test file: tests={old: new} as pairs."""
    tests = TESTS
    for old, new in changed.items():
        tests = tests.replace(old, new)
    files = {
        "grader.yaml": "course: Sums\nassignments: [sums]\n",
        "assignments/sums/assignment.yaml": f"title: Sums\npoints: 10\npreload: [numpy]\n{settings}",
        "assignments/sums/handout.md": "# Sums\n\nAdd.\n",
        "assignments/sums/starter/solution.py": starter,
        "graders/sums/test_sums.py": tests,
        "graders/sums/key.py": KEY,
        "reference/sums.py": REFERENCE,
        "fixtures/sums/submissions/accepted/plain/solution.py": RIGHT,
        "fixtures/sums/submissions/accepted/other/solution.py": ALSO_RIGHT,
        "fixtures/sums/submissions/wrong/mean/solution.py": RIGHT.replace(
            "sum(numbers)", "sum(numbers) / len(numbers)"
        ),
        "fixtures/sums/submissions/wrong/unsorted/solution.py": RIGHT.replace("sorted(words)", "words"),
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip(), "utf-8")
    return load_course(root)
