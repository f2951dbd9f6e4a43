"""What the starter says is not part of a student's answer."""

import json
from pathlib import Path

import pytest

from viva.submissions.notebook_prose import number_of
from viva.submissions.starter_prose import StarterProse

QUESTION = "Explain it in two sentences.\n\nYou may draw a picture."


@pytest.fixture
def starter(tmp_path: Path) -> StarterProse:
    cells = [f"## 2.1 Why?\n\n{QUESTION}", "*Your answer here.*", "## 2.2 How?"]
    notebook = {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": text} for text in cells]}
    (tmp_path / "work.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "broken.ipynb").write_text("{")
    (tmp_path / "answers.yaml").write_text("written:\n  '3': Write here.\n  '4':\n")
    return StarterProse(tmp_path, frozenset(), frozenset({"2.1", "2.2"}))


@pytest.mark.parametrize(
    ("number", "text", "own"),
    [
        ("2.1", f"{QUESTION}\n\n*Your answer here.*", ""),
        ("2.1", f"{QUESTION}\n\n*Your  answer\nhere.*  ", ""),
        ("2.1", f"{QUESTION}\n\nBecause.\n\nOf this.", "Because.\n\nOf this."),
        ("2.1", "*Your answer here.* Because.", "*Your answer here.* Because."),
        ("2.1", "Because.\n\n\n  It is so.\n", "Because.\n\n\n  It is so.\n"),
        ("2.1", "```\na = 1\n\nb = 2\n```\n\n*Your answer here.*", "```\na = 1\n\nb = 2\n```"),
        ("2.2", "*Your answer here.*", "*Your answer here.*"),
        ("3", "Write here.", ""),
        ("3", "Write here. Done.", "Write here. Done."),
        ("4", "Write here.", "Write here."),
        ("4", "", ""),
    ],
)
def test_paragraphs_of_the_starter_are_left_out(starter: StarterProse, number: str, text: str, own: str) -> None:
    assert starter.without(number_of(number), text) == own


def test_without_a_starter_everything_is_the_students(tmp_path: Path) -> None:
    assert (
        StarterProse(tmp_path / "none", frozenset(), frozenset()).without(("2", "1"), "*Your answer here.*")
        == "*Your answer here.*"
    )
