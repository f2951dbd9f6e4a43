"""One small assignment with four tests, and a class of submissions for it, as modules and as notebooks."""

import json
from pathlib import Path
from typing import Any

ASSIGNMENT = """\
title: Small
version: 1
submission: {{notebook: "*.ipynb", module: solution.py}}
points: 12
preload: [{preload}]
"""

REFERENCE = '''\
"""The answers."""
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def causal_mask(n):
    return np.triu(np.ones((n, n)), 1)


def ngrams(tokens, n):
    return [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]
'''

VIVA_TESTS = '''\
from viva.grading import agree, weight


@weight(3)
def test_softmax(student, key, rng):
    """Rows sum to one."""
    for n in (1, 4, 9):
        x = rng.normal(size=(n, 5))
        agree(student.softmax(x), key.softmax(x))


@weight(3)
def test_attention(student, key, rng):
    """Queries attend to keys."""
    for n in (1, 3, 6, 8):
        q, k, v = rng.normal(size=(3, n, 4))
        agree(student.attention(q, k, v), key.attention(q, k, v))


@weight(3)
def test_causal_mask(student, key):
    """Each token sees its past."""
    for n in (1, 2, 5):
        agree(student.causal_mask(n), key.causal_mask(n))


@weight(3)
def test_ngrams(student, key):
    """All n-grams in order."""
    for n in (1, 2, 3):
        agree(student.ngrams(list("abcde"), n), key.ngrams(list("abcde"), n))
'''

EXPECTED = """\
import numpy as np


def expected(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
"""What the tests of the other tools compare with: they have no key."""

TESTS = {
    "softmax": """\
for n in (1, 4, 9):
    x = np.random.default_rng(n).normal(size=(n, 5))
    np.testing.assert_allclose(softmax(x), expected(x))
""",
    "attention": """\
for n in (1, 3, 6, 8):
    q, k, v = np.random.default_rng(n).normal(size=(3, n, 4))
    np.testing.assert_allclose(attention(q, k, v), expected(q @ k.T / 2) @ v)
""",
    "causal_mask": """\
for n in (1, 2, 5):
    np.testing.assert_allclose(causal_mask(n), np.triu(np.ones((n, n)), 1))
""",
    "ngrams": """\
for n in (1, 2, 3):
    assert ngrams(list("abcde"), n) == [tuple("abcde"[i:i + n]) for i in range(6 - n)]
""",
}
"""The same questions for the tools that run tests next to the submission: function -> body of its test."""
POINTS = 3
"""For each test."""
WRONG = 1
"""This student of the class lets each token see itself, so that a tool that grades nothing is detected."""


def total_of(student: int) -> int:
    """Return the points that a student of the class must get."""
    return POINTS * (len(TESTS) - (student == WRONG))


def source_of(student: int, *, torch: bool) -> str:
    """Return the module that a student submits."""
    answers = REFERENCE.split("\n", 1)[1]
    if student == WRONG:
        answers = answers.replace("np.ones((n, n)), 1)", "np.ones((n, n)), 0)")
    return f"# student {student}\n" + ("import torch\n" if torch else "") + answers


def write(folder: Path, *, size: int, torch: bool, notebooks: bool = True) -> None:
    """Write `course/`, and per student `modules/<s>/solution.py` and, if wanted, `notebooks/<s>/answer.ipynb`."""
    course = folder / "course"
    for name, text in {
        "grader.yaml": "course: bench\nsecret: file:.secret\nassignments: [small]\n",
        ".secret": "the measurements need no secret\n",
        "assignments/small/assignment.yaml": ASSIGNMENT.format(preload="torch" if torch else "numpy"),
        "graders/small/key.py": REFERENCE,
        "graders/small/test_small.py": VIVA_TESTS,
    }.items():
        put(course / name, text)
    (course / ".secret").chmod(0o600)
    for student in range(size):
        source = source_of(student, torch=torch)
        put(folder / "modules" / name_of(student) / "solution.py", source)
        if notebooks:
            put(folder / "notebooks" / name_of(student) / "answer.ipynb", notebook(cells_of(source)))


def name_of(student: int) -> str:
    """Return the name of a student's folder."""
    return f"s{student:04}"


def cells_of(source: str) -> list[dict[str, Any]]:
    """Return a code cell for each paragraph of a module."""
    return [cell(f"c{i}", part) for i, part in enumerate(source.split("\n\n\n"))]


def cell(name: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a code cell that has not been run."""
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata or {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


def notebook(cells: list[dict[str, Any]]) -> str:
    """Return a notebook for the stock kernel."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def put(path: Path, text: str) -> None:
    """Write a file with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
