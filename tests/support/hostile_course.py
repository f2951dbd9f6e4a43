"""A tiny course whose answers hang on a number that no one can guess, and secrets laid out where a class has them."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
POINTS: Final = 14
MARK: Final = "nightingale-"
"""How every secret begins; the random rest proves that it was read."""
SECRET_FILE: Final = "course/.secret"
KEY: Final = "course/graders/small/key.py"
TESTS: Final = "course/graders/small/test_small.py"
OTHER: Final = "class/ada/solution.py"
RESULTS: Final = "results/ada/results.json"

_GRADER = """
course: hostile
secret: file:.secret
assignments: [small]
"""

_ASSIGNMENT = """
title: Small
submission: {notebook: "*.ipynb", module: solution.py}
points: 14
preload: [numpy]
limits:
  load_s: 1
  call_s: 0.5
  test_s: 3
  submission_s: 20
  memory_mib: 256
  disk_mib: 8
  output_kib: 16
  processes: 24
"""

_TESTS = r'''
"""What is asked: @MARK@."""
import re

from viva.grading import (
    agree, agree_choice, agree_formula, agree_number, agree_table, needs_review, visibility, weight,
)


@weight(1)
def test_number(student, key, rng):
    """A number."""
    x = float(rng.integers(2, 99))
    agree(student.number(x), key.number(x))


@weight(1)
def test_array(student, key, rng):
    """An array, given an array that the key gets as well, after the student."""
    x = rng.normal(size=(3, 4))
    agree(student.array(x), key.array(x))


@weight(1)
def test_text(student, key):
    """A text."""
    agree(student.text("mask"), key.text("mask"))


@weight(1)
def test_table(student, key):
    """A table of counts."""
    agree(student.table(["a", "bc", "a"]), key.table(["a", "bc", "a"]))


@weight(1)
def test_comparison_without_care(student, key):
    """Graders are also written by people in a hurry."""
    value = student.number(7.0)
    assert value == key.number(7.0)
    assert abs(student.number(8.0) - key.number(8.0)) < 1e-6


@weight(1)
def test_change_in_place(student, key):
    """What a function does to its argument."""
    agree(student.fill.call([1.0, 2.0]).args_after[0], key.filled([1.0, 2.0]))


@weight(1)
def test_object(student, key):
    """An object that stays in the box."""
    model = student.Model.keep(3)
    agree(model.size, key.number(3.0))
    agree(model.forward([1.0, 2.0]), key.array([1.0, 2.0]))


@weight(1)
def test_every_item(student, key):
    """A list, looked at item by item by somebody in a hurry."""
    found = student.items(4)
    assert len(found) == 4
    for i, item in enumerate(found):
        assert item == key.number(float(i))


@weight(1)
def test_answer(submission, key):
    """An answer that is no code."""
    agree(submission.answers["1.1"], key.text("answer"))


@weight(1)
def test_formula(submission, key):
    """A formula, written as students write them."""
    agree_formula(submission.answers["1.2"], key.formula(), {"n": (2, 9), "d": (2, 9)})


@weight(1)
def test_reading(submission, key):
    """A number, a choice and a table that have to be read before they can be compared."""
    agree_number(submission.answers["1.3"], key.number(3.0))
    agree_choice(submission.answers["1.4"], {"a", "c"})
    agree_table(submission.answers["1.5"], key.grid(), partial=False)


@weight(1)
def test_search(student, key):
    """A text that an author searches, and a set and numbers that are compared in any order."""
    found = re.fullmatch(r"(\w+)-(\d+)", student.text("x"))
    assert found and found[2] == key.text("x").partition("-")[2]
    agree(set(student.items(3)), {key.number(float(i)) for i in range(3)})


@weight(1)
def test_attribute(student, key):
    """What a handle holds, looked at by name, by item and by number."""
    model = student.Model.keep(4)
    value = model.size
    assert int(value) == int(key.number(4.0))
    assert round(value, 3) in [key.number(4.0)]


@weight(1)
@visibility("hidden")
def test_hidden(student, key, rng):
    """A question whose inputs no student may learn."""
    x = "@HIDDEN@" + "x" * int(rng.integers(1, 9))
    agree(student.text(x), key.text(x))
'''

_KEY = '''
"""The answers: @MARK@."""
import numpy as np

MARK = "@MARK@"
SALT = @SALT@


def number(x):
    return x * SALT + 0.5


def array(x):
    return np.asarray(x) * 2.0 + SALT


def text(word):
    return f"{word}-{SALT}"


def formula():
    return f"n^2*d + {SALT}n"


def grid():
    return [[SALT**3 >> 5 * row + column & 1 for column in range(5)] for row in range(5)]


def table(words):
    return {word: words.count(word) * SALT for word in words}


def filled(numbers):
    return [x + SALT for x in numbers]
'''

_HONEST = '''
"""What a good student hands in: @MARK@."""
import numpy as np

SALT = @SALT@
answers = {
    "1.1": f"answer-{SALT}",
    "1.2": f"n²d + {SALT}·n",
    "1.3": str(3.0 * SALT + 0.5),
    "1.4": "a, c",
    "1.5": [[SALT**3 >> 5 * row + column & 1 for column in range(5)] for row in range(5)],
}


def number(x):
    return x * SALT + 0.5


def array(x):
    return np.asarray(x) * 2.0 + SALT


def text(word):
    return f"{word}-{SALT}"


def table(words):
    return {word: words.count(word) * SALT for word in words}


def fill(numbers):
    numbers[:] = [x + SALT for x in numbers]


def items(n):
    return [number(float(i)) for i in range(n)]


class Model:
    def __init__(self, size):
        self.size = number(float(size))

    def forward(self, x):
        return array(x)
'''


@dataclass(frozen=True, slots=True)
class HostileCourse:
    """One course with secrets of its own."""

    salt: int = field(default_factory=lambda: secrets.randbelow(10**6) + 10**6)
    marks: dict[str, str] = field(
        default_factory=lambda: {
            place: MARK + secrets.token_hex(8)
            for place in ("key", "tests", "hidden", "secret", "other", "results", "environment")
        }
    )

    def files(self) -> dict[str, str]:
        """Everything that lies on the grading person's disk, by path."""
        return {
            "course/grader.yaml": _GRADER,
            "course/assignments/small/assignment.yaml": _ASSIGNMENT,
            TESTS: self._filled(_TESTS, "tests"),
            KEY: self._filled(_KEY, "key"),
            SECRET_FILE: self.marks["secret"] * 2,
            OTHER: self.honest("other"),
            RESULTS: json.dumps({"score": 10, "tests": [{"output": self.marks["results"]}]}),
        }

    def honest(self, place: str = "") -> str:
        """A right solution; the one of `place` carries its mark."""
        return self._filled(_HONEST, place)

    def _filled(self, text: str, place: str) -> str:
        mark = self.marks.get(place, "nothing to see")
        return text.replace("@MARK@", mark).replace("@HIDDEN@", self.marks["hidden"]).replace("@SALT@", str(self.salt))
