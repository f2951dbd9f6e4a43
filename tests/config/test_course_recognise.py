"""The assignment is recognised from what is submitted, as text; nothing is executed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from viva.config import load_course, recognise
from viva.model import File, Submission
from viva.model.errors import CourseError, UsageError

Write = Callable[[str, str], Path]


def submission(name: str = "alice", **files: str) -> Submission:
    return Submission(
        name, tuple(File(path.replace("__", "."), text.encode()) for path, text in files.items()), "0" * 64
    )


def notebook(*sources: str, **metadata: object) -> str:
    cells = [
        {"cell_type": "code", "source": s.splitlines(keepends=True), "metadata": {}, "outputs": []} for s in sources
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


@pytest.fixture
def root(write: Write, tmp_path: Path) -> Path:
    write(
        "assignments/masks/starter/solution.py",
        "import numpy\n\ndef square_mask(n):\n    ...\n\ndef train(x):\n    ...\n",
    )
    write(
        "assignments/lora/starter/starter.ipynb", notebook("class LoraLayer:\n    pass\n", "def train(x):\n    pass\n")
    )
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (submission(solution__py="def square_mask(n): return 1\n"), "masks"),
        (submission(solution__py="class LoraLayer: pass\n"), "lora"),
        (submission(hw__ipynb=notebook("import numpy\ndef square_mask(n):\n  pass")), "masks"),
        (submission(hw__ipynb=json.dumps({"cells": [{"source": "x = 1\nclass LoraLayer:\n pass"}]})), "lora"),
        (submission(solution__py="square_mask = lambda n: 1\n"), "masks"),
        (submission(solution__py="def train(x): pass\n", hw__ipynb=notebook(viva={"assignment": "lora"})), "lora"),
        (submission("fixtures/masks/submissions/wrong/x", solution__py="def train(x): pass\n"), "masks"),
        # what the code defines is stronger than what the metadata claims
        (submission(hw__ipynb=notebook("def square_mask(n): pass", viva={"assignment": "lora"})), "masks"),
        # what cannot be parsed is text all the same
        (submission(solution__py="def square_mask(n:\n  ???((\0"), "masks"),
        (submission(hw__ipynb='{"cells": [{"source": ["class LoraLayer:\\n", "  '), "lora"),
    ],
)
def test_recognised(root: Path, given: Submission, expected: str) -> None:
    assert recognise(load_course(root), given).name == expected


def test_an_exact_file_name_tells(write: Write, root: Path) -> None:
    write("assignments/lora/assignment.yaml", "title: L\nsubmission: {module: lora.py}\n")
    assert recognise(load_course(root), submission(lora__py="x = 1")).name == "lora"


def test_a_course_with_one_assignment_needs_no_evidence(write: Write, root: Path) -> None:
    write("grader.yaml", "course: nlp\nassignments: [lora]\n")
    assert recognise(load_course(root), Submission("empty", (), "")).name == "lora"


@pytest.mark.parametrize("given", [submission("bob/hw", solution__py="x = 1"), Submission("bob/hw", (), "")])
def test_what_cannot_be_told_is_asked_for(root: Path, given: Submission) -> None:
    with pytest.raises(UsageError, match=r"bob/hw .* --assignment NAME \(one of: masks, lora\)"):
        recognise(load_course(root), given)


def test_a_course_without_assignments(write: Write, root: Path) -> None:
    write("grader.yaml", "course: nlp\nassignments: []\n")
    with pytest.raises(CourseError, match="assignments is empty"):
        recognise(load_course(root), submission())


@pytest.mark.parametrize(
    "nasty", ['"x:' * 300_000, "x" * 2_000_000, '"viva":' * 300_000, "x:" * 500_000, " " * 1_000_000]
)
def test_no_text_makes_it_slow(root: Path, nasty: str) -> None:
    """Searching is linear: an hour of backtracking in the grader would be a student's cheapest attack."""
    with pytest.raises(UsageError):
        recognise(load_course(root), submission(hw__ipynb=nasty, solution__py=nasty))
