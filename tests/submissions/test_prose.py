"""Prose is found under the heading that begins with the question's number, as students write headings."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.submissions.answers_file import written_in
from viva.submissions.notebook_cells import Cell, Notebook


def markdown(*sources: str) -> Notebook:
    return Notebook(tuple(Cell(0, place, "markdown", source) for place, source in enumerate(sources, 1)))


@pytest.mark.parametrize(
    "heading",
    [
        "## 2.1 Why attention?", "# 2.1", "### Question 2.1: Why?", "## Exercise 2.1.", "## Q2.1", "## Task 2.1 – Why",
        "**2.1 Why attention?**", "**Question 2.1:**", "__2.1__", "## **2.1** Why", "## 2-1 Why", "## 2_1",
        "   ## 2.1) Why", "## (2.1) Why", "## Answer to question 2.1",
    ],
)  # fmt: skip
def test_headings(heading: str) -> None:
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2.1") == "Because."
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2.2") == ""
    assert written_in(markdown(f"{heading}\n\nBecause.\n"), "2") == ""


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("2.1a", "## 2.1a\nX"), ("2.1a", "## 2.1 (a)\nX"), ("2.1a", "## 2.1.a Why\nX"), ("2.1a", "## 2.1 a) Why\nX"),
        ("1(a)(ii)", "## 1(a)(ii)\nX"), ("1(a)(ii)", "## 1a.ii\nX"), ("1a(ii)", "## 1 (a) (ii)\nX"),
        ("2.1a", "## 2.1\n### (a) First\nX"), ("2.1b", "## 2.1\n**a)**\nno\n\n**b)**\nX"),
        ("b", "## (b) Concatenation\nX"), ("1.10", "## 1.1\nno\n## 1.10\nX"), ("3", "## 3. Why\nX"),
    ],
)  # fmt: skip
def test_numbers(number: str, text: str) -> None:
    assert written_in(markdown(text), number) == "X"


def test_prose_runs_over_cells_up_to_the_next_question() -> None:
    read = markdown(
        "# Part 2\n## 2.1\none", "two\n\n### My answer\nthree", "## Figure\nfour", "## 2.2\nfive", "# Part 3\nsix"
    )
    assert written_in(read, "2.1") == "one\n\ntwo\n\n### My answer\n\nthree\n\n## Figure\n\nfour"
    assert written_in(read, "2.2") == "five"


def test_a_question_holds_its_parts() -> None:
    read = markdown("## 2.1\nall\n### (a)\nfirst\n### (b)\nsecond\n## 2.2\nno")
    assert written_in(read, "2.1") == "all\n\n### (a)\n\nfirst\n\n### (b)\n\nsecond"
    assert written_in(read, "2.1b") == "second"


def test_a_cell_that_begins_with_the_number_needs_no_heading() -> None:
    assert written_in(markdown("2.1) Because it is so.", "2.2: Other."), "2.1") == "2.1) Because it is so."
    assert written_in(markdown("**2.1** Because it is so."), "2.1") == "**2.1** Because it is so."
    assert written_in(markdown("1. first of a list\n2. second"), "1") == ""


def test_code_cells_are_no_prose() -> None:
    assert written_in(Notebook((Cell(1, 1, "code", "# 2.1\n'text'"),)), "2.1") == ""


@given(st.lists(st.text(alphabet="#* _12.ab()\n", max_size=60), max_size=5), st.text(alphabet="12.ab()", max_size=6))
def test_no_text_raises(sources: list[str], number: str) -> None:
    written_in(markdown(*sources), number)


@pytest.mark.parametrize("piece", ["#", "# ", "**", "**a", "1.", "1a", "(a)", " ", "question ", "\n# 1", "__", "_ "])
def test_no_repetition_makes_it_slow(piece: str) -> None:
    started = time.thread_time()
    text = written_in(markdown(piece * (400_000 // len(piece)), "## 2.1\n" + piece * 100_000), "2.1")
    assert time.thread_time() - started < 3
    assert len(text) <= 100_000
