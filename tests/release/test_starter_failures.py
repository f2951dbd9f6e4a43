"""A starter may fail where students are still to write something, and nowhere else."""

import json

import pytest

from bench.small_course import cell, notebook
from viva.model.submission import File, Submission
from viva.plugins.release.starter_failures import unforeseen

RIGHT = ["import math", "n = 4", "def f(x):\n    return x", "assert n == 4", "m = f(n)", "m + 1", "math.tau"]
STARTER = [RIGHT[0], "n = None", "def f(x):\n    raise NotImplementedError", *RIGHT[3:]]


def submission(sources: list[str]) -> Submission:
    text = notebook([cell(f"c{at}", source) for at, source in enumerate(sources)])
    return Submission("s", (File("work.ipynb", text.encode()),), "")


def note(number: int, error: str = "AssertionError") -> str:
    return f"While loading, cell {number} of work.ipynb: Your code raised {error}."


@pytest.mark.parametrize(
    ("failed", "foreseen"),
    [
        (note(4), True),
        (note(5, "TypeError"), True),
        (note(6, "NameError"), True),
        (note(2), False),
        (note(7, "AttributeError"), False),
        (note(7, "NotImplementedError"), True),
        (note(1, "ModuleNotFoundError"), False),
        (note(40), False),
        (note(4).replace("work", "other"), False),
        ("While loading, helpers.py line 3: Your code raised NameError.", False),
    ],
)
def test_unforeseen_failures(failed: str, foreseen: bool) -> None:
    assert unforeseen([failed], submission(STARTER), submission(RIGHT)) == ([] if foreseen else [failed])


def test_change_of_unwritten_value() -> None:
    right = ["table = {}", "table['a'] = 1", "size = len(table)", "size == 1"]
    starter = [right[0], "...", *right[2:]]
    assert unforeseen([note(3), note(4)], submission(starter), submission(right)) == []


def test_unreadable_notebook() -> None:
    broken = Submission("s", (File("work.ipynb", json.dumps({}).encode()),), "")
    assert unforeseen([note(1)], broken, submission(RIGHT)) == [note(1)]


def test_module_below_unwritten_call() -> None:
    notes = [f"While loading, solution.py line {line}: Your code raised {error}." for line, error in
             [(3, "NotImplementedError"), (4, "NameError"), (5, "TypeError")]]  # fmt: skip
    assert unforeseen(notes, submission(STARTER), submission(RIGHT)) == notes[2:]


def test_parameter_named_like_unwritten_value() -> None:
    """`n` is unwritten; a cell whose function has a parameter `n` does not need it, and one that adds to it does."""
    right = ["n = 4", "def f(n):\n    return n\nf(1)", "n += 1"]
    notes = [note(2), note(3, "TypeError")]
    assert unforeseen(notes, submission(["n = None", *right[1:]]), submission(right)) == notes[:1]


@pytest.mark.parametrize(
    ("error", "foreseen"),
    [
        ("NameError: name 'f' is not defined", True),
        ("NameError: name 'g' is not defined", False),
        ("NameError: name 'n' is not defined", False),
        ("TypeError: f takes no argument", False),
    ],
)
def test_module_that_calls_unwritten_function(error: str, foreseen: bool) -> None:
    """The whole function is in the solution region, and the line below prints what it returns."""
    right = Submission("r", (File("hw.py", b"n = 4\ndef f(x):\n    return x\nprint(f(n))\n"),), "")
    starter = Submission("s", (File("hw.py", b"n = 4\n...\nprint(f(n))\n"),), "")
    failed = f"While loading, hw.py line 3: Your code raised {error}."
    assert unforeseen([failed], starter, right) == ([] if foreseen else [failed])
