"""Prose is found under the heading that begins with the question's number, without what the starter says there."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.submissions.notebook_cells import Cell, Notebook
from viva.submissions.notebook_prose import Questions, number_of
from viva.submissions.starter_prose import StarterProse


def markdown(*sources: str) -> Notebook:
    return Notebook(tuple(Cell(0, place, "markdown", source) for place, source in enumerate(sources, 1)))


def written_in(notebook: Notebook, number: str, *others: str, starter: tuple[Notebook, ...] = ()) -> str:
    """Return the text for a question of an assignment that has others, too."""
    return Questions(others, [number], starter).texts(notebook).get(number_of(number), "")


@pytest.mark.parametrize(
    "heading",
    [
        "## 2.1 Why attention?", "# 2.1", "### Question 2.1: Why?", "## Exercise 2.1.", "## Q2.1", "## Task 2.1 – Why",
        "**2.1 Why attention?**", "**Question 2.1:**", "__2.1__", "## **2.1** Why", "## 2-1 Why", "## 2_1",
        "   ## 2.1) Why", "## (2.1) Why", "## Answer to question 2.1",
        "## Aufgabe 2.1: Warum? (3 Punkte)", "## 問題 2.1", "## Übung 2,1", "Why? (2.1)\n---", "2.1 Why\n====",
    ],
)  # fmt: skip
def test_heading_of_any_form_begins_its_answer(heading: str) -> None:
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2.1") == "Because."
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2.2", "2.1") == ""
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2", "2.1") == ""


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("2.1a", "## 2.1a\nX"), ("2.1a", "## 2.1 (a)\nX"), ("2.1a", "## 2.1.a Why\nX"), ("2.1a", "## 2.1 a) Why\nX"),
        ("1(a)(ii)", "## 1(a)(ii)\nX"), ("1(a)(ii)", "## 1a.ii\nX"), ("1a(ii)", "## 1 (a) (ii)\nX"),
        ("2.1a", "## 2.1\n### (a) First\nX"), ("2.1b", "## 2.1\n**a)**\nno\n\n**b)**\nX"),
        ("b", "## (b) Concatenation\nX"), ("1.10", "## 1.1\nno\n## 1.10\nX"), ("3", "## 3. Why\nX"),
    ],
)  # fmt: skip
def test_numbers_of_parts_are_matched(number: str, text: str) -> None:
    assert written_in(markdown(text), number, "1.1", "2.1a") == "X"


def test_prose_runs_over_cells() -> None:
    read = markdown(
        "# Part 2\n## 2.1\none", "two\n\n### My answer\nthree", "## Figure\nfour", "## 2.2\nfive", "# Part 3\nsix"
    )
    assert written_in(read, "2.1", "2.2") == "one\n\ntwo\n\n### My answer\nthree\n\n## Figure\nfour"
    assert written_in(read, "2.2", "2.1") == "five\n\n# Part 3\nsix"


def test_question_holds_its_parts() -> None:
    read = markdown("## 2.1\nall\n### (a)\nfirst\n### (b)\nsecond\n## 2.2\nno")
    assert written_in(read, "2.1", "2.2") == "all\n### (a)\nfirst\n### (b)\nsecond"
    assert written_in(read, "2.1", "2.2", "2.1b") == "all\n### (a)\nfirst"
    assert written_in(read, "2.1b", "2.1", "2.2") == "second"


NOT_A_QUESTION = [
    "### 1. Scale", "### 1.1 Rows", "**1. Scale**", "**1.1** is", "0.5 of the rows", "1.1 of the rows", "1. a\n2. b",
    "## Scale", "## 3 reasons", "## 1.1 of the rows", "```\n## 2.2 How?\n```", "~~~~\n```\n## 2.2\n~~~~", "### 2.2",
    "x\n\n    ## 2.2 How?", "> ## 2.2 How?", "| 2.2 | x |\n|---|---|", "## 2.1.1 Details",
]  # fmt: skip


def test_only_another_question_ends_an_answer() -> None:
    starter = markdown("# Lab 1", "## 1.1 Rows", "## 2.1 Why?\n\n*Your answer*", "## 2.2 How?")
    with Rows() as row:
        for text in NOT_A_QUESTION:
            with row(text):
                read = markdown("# Lab 1", "## 1.1 Rows", "## 2.1 Why?", "one", f"{text}\n\ntwo", "## 2.2 How?\nno")
                assert written_in(read, "2.1", "1.1", "2.2", starter=(starter,)) == f"one\n\n{text}\n\ntwo"


def test_deeper_numbers_without_a_starter() -> None:
    read = markdown("# Homework 2", "## 1 Rows", "## 2 Why?\none\n### 1. Scale\n**3. Counts**\ntwo", "## 3\nno")
    assert written_in(read, "2", "1", "3") == "one\n### 1. Scale\n**3. Counts**\ntwo"


def test_answers_at_the_end() -> None:
    starter = markdown("## 2.1 Why?\n\n*Your answer*", "## 2.2 How?")
    read = markdown("## 2.1 Why?\n\n*Your answer*", "## 2.2 How?", "# My answers", "### 2.1\none", "### 2.2\ntwo")
    assert written_in(read, "2.1", "2.2", starter=(starter,)) == "*Your answer*\n\none"
    assert written_in(read, "2.2", "2.1", starter=(starter,)) == "# My answers\n\ntwo"


def test_only_heading_counts_at_any_level() -> None:
    read = markdown("## 1.1 Rows", "## 3(f)\ncode", "### Question 2(e)\none", "#### 1.1 Rows\ntwo")
    assert written_in(read, "2e", "1.1", "3f") == "one\n\n#### 1.1 Rows\ntwo"


def test_cell_that_begins_with_the_number() -> None:
    assert written_in(markdown("2.1) Because it is so.", "2.2: Other."), "2.1", "2.2") == "2.1) Because it is so."
    assert written_in(markdown("**2.1** Because it is so."), "2.1") == "Because it is so."
    assert written_in(markdown("1. first of a list\n2. second"), "1") == ""


def test_code_cells_are_no_prose() -> None:
    assert written_in(Notebook((Cell(1, 1, "code", "# 2.1\n'text'"),)), "2.1") == ""


@given(st.lists(st.text(alphabet="#* _12.ab()\n", max_size=60), max_size=5), st.text(alphabet="12.ab()", max_size=6))
def test_no_text_raises(sources: list[str], number: str) -> None:
    written_in(markdown(*sources), number)


@pytest.mark.parametrize("piece", ["#", "# ", "**", "**a", "1.", "1a", "(a)", " ", "question ", "\n# 1", "__", "_ "])
def test_repetition_is_not_slow(piece: str) -> None:
    started = time.thread_time()
    text = written_in(markdown(piece * (100_000 // len(piece)), "## 2.1\n" + piece * 25_000), "2.1")
    assert time.thread_time() - started < 3
    assert len(text) <= 100_000


# --- what the starter says is not part of an answer


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
def test_paragraphs_of_the_starter(starter: StarterProse, number: str, text: str, own: str) -> None:
    assert starter.without(number_of(number), text) == own


def test_no_starter(tmp_path: Path) -> None:
    none = StarterProse(tmp_path / "none", frozenset(), frozenset())
    assert none.without(("2", "1"), "*Your answer here.*") == "*Your answer here.*"
