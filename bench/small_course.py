"""One small assignment, and a class of submissions for it, written for viva, for bare pytest and for nbconvert."""

import json
from pathlib import Path

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

PLAIN_TESTS = """\
import numpy as np
import solution


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_softmax():
    for n in (1, 4, 9):
        x = np.random.default_rng(n).normal(size=(n, 5))
        np.testing.assert_allclose(solution.softmax(x), softmax(x))


def test_attention():
    for n in (1, 3, 6, 8):
        q, k, v = np.random.default_rng(n).normal(size=(3, n, 4))
        np.testing.assert_allclose(solution.attention(q, k, v), softmax(q @ k.T / 2) @ v)


def test_causal_mask():
    for n in (1, 2, 5):
        np.testing.assert_allclose(solution.causal_mask(n), np.triu(np.ones((n, n)), 1))


def test_ngrams():
    for n in (1, 2, 3):
        assert solution.ngrams(list("abcde"), n) == [tuple("abcde"[i:i + n]) for i in range(6 - n)]
"""


def write(folder: Path, *, size: int, torch: bool) -> None:
    """Write `course/`, and per student `modules/<n>/solution.py`, `plain/<n>/`, `notebooks/<n>/answer.ipynb`."""
    course = folder / "course"
    for name, text in {
        "grader.yaml": "course: bench\nsecret: file:.secret\nassignments: [small]\n",
        ".secret": "the measurements need no secret\n",
        "assignments/small/assignment.yaml": ASSIGNMENT.format(preload="torch" if torch else "numpy"),
        "graders/small/key.py": REFERENCE,
        "graders/small/test_small.py": VIVA_TESTS,
    }.items():
        _put(course / name, text)
    (course / ".secret").chmod(0o600)
    for student in range(size):
        source = f"# student {student}\n" + ("import torch\n" if torch else "") + REFERENCE.split("\n", 1)[1]
        _put(folder / "modules" / f"s{student:03}" / "solution.py", source)
        _put(folder / "plain" / f"s{student:03}" / "solution.py", source)
        _put(folder / "plain" / f"s{student:03}" / "test_solution.py", PLAIN_TESTS)
        _put(folder / "notebooks" / f"s{student:03}" / "answer.ipynb", _notebook(source))


def _notebook(source: str) -> str:
    cells = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": part}
        for i, part in enumerate(source.split("\n\n\n"))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
