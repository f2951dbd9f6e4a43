"""A small course with short limits, and the submissions that the tests of the commands submit."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SETTINGS_FILE = "assignments/words/assignment.yaml"
KEY_FILE = "graders/words/key.py"
TESTS_FILE = "graders/words/test_words.py"
SECRET = "the secret of the course that only tests use"

GRADER = """\
course: small
secret: env:VIVA_SECRET
assignments: [words]
"""
ASSIGNMENT = """\
title: Words
version: 1
points: 10
preload: [numpy]
limits: {load_s: 3, call_s: 1, test_s: 3, submission_s: 30}
"""
KEY = '''\
"""The model answers."""

answers = {"2.1": "B"}


def word_counts(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def total(numbers):
    return sum(numbers)
'''
TESTS = '''\
from viva.grading import agree, agree_choice, needs_review, number, visibility, weight


@number("1.1")
@weight(4)
def test_word_counts(student, key):
    """The words of a short text are counted."""
    for text in ["", "a", "The cat and the hat"]:
        agree(student.word_counts(text), key.word_counts(text), name=f"word_counts({text!r})")


@number("1.1")
@weight(2)
@visibility("hidden")
def test_random_texts(student, key, rng):
    """Random texts are counted."""
    for length in rng.integers(2, 60, size=4):
        text = " ".join(rng.choice(["a", "B", "b", "cat"], size=length))
        agree(student.word_counts(text), key.word_counts(text))


@number("1.2")
@weight(2)
def test_total(student, key):
    """Numbers are added up."""
    agree(student.total([1, 2, 3.5]), key.total([1, 2, 3.5]))


@number("2.1")
@weight(1)
def test_choice(submission, key):
    """Which of the two it is."""
    agree_choice(submission.answers["2.1"], key.answers["2.1"])


@number("2.2")
@weight(1)
def test_reasons(submission):
    """Why it is so."""
    needs_review(submission.written["2.2"], rubric="2.2")
'''
OPEN = 1
"""Points of 10 that a person gives."""

RIGHT = """\
def word_counts(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


answers = {"2.1": "B"}
"""
ACCEPTED = f'{RIGHT}written = {{"2.2": "Because."}}\n'
"""The same with an answer in words, as `viva verify` expects it of an accepted submission."""
KEEPS_CASE = RIGHT.replace("text.lower().split()", "text.split()")
SLOW = RIGHT.replace("    counts = {}\n", "    import time; time.sleep(0.25)\n    counts = {}\n", 1)


def write_course(root: Path) -> Path:
    """The course in `root`; returns it."""
    for path, text in {
        "grader.yaml": GRADER,
        SETTINGS_FILE: ASSIGNMENT,
        KEY_FILE: KEY,
        TESTS_FILE: TESTS,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


def edit(path: Path, old: str, new: str) -> None:
    """Replace a passage of a file; it has to be there."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def hand_in(folder: Path, source: str = RIGHT, **files: str) -> Path:
    """A submission with one module, and further files by their stem (`other="…"` is other.py)."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, text in {"solution": source, **files}.items():
        (folder / f"{stem}.py").write_text(text, "utf-8")
    return folder


def cell(source: str | Sequence[str], kind: str = "code", **extra: Any) -> dict[str, Any]:
    """One cell as Jupyter writes it."""
    cell = {"cell_type": kind, "metadata": {}, "source": source}
    return (cell | {"execution_count": None, "outputs": []} if kind == "code" else cell) | extra


def notebook(*cells: Any, **extra: Any) -> str:
    """The text of a notebook; a string stands for a code cell."""
    made = [cell(c) if isinstance(c, str) else c for c in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | extra)


def hand_in_notebook(folder: Path, *cells: Any, name: str = "work.ipynb", **extra: Any) -> Path:
    """A submission that is one notebook in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(notebook(*cells, **extra), "utf-8")
    return folder
