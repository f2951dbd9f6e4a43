"""Pages for students: what they may read, and never what only staff may."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_notebooks import notebook
from tests.support.report_class import assignment, entry, marked
from viva.examiner.outcome import HIDDEN
from viva.model import Attempt, Case, Entry, ScoredAttempt, Status
from viva.model.errors import UsageError
from viva.model.score import Curve
from viva.plugins.report import feedback_page
from viva.plugins.report.notebook_view import show_cells
from viva.plugins.report.safe_html import MAX_RENDERED

SECRET = "zq-secret-7141"
ASSIGNMENT = assignment()


def page(one: ScoredAttempt, data: bytes | None = None, *, executed: bool = False) -> str:
    shown = feedback_page.Notebook(data, executed) if data is not None else None
    return feedback_page.render_page(one, ASSIGNMENT, shown).decode()


@pytest.mark.parametrize("visibility", ["hidden", "after_due_date", "after_published"])
@pytest.mark.parametrize("status", list(Status))
def test_hidden_tests_do_not_leak(visibility: str, status: Status) -> None:
    """The secret stands wherever a score can keep something of a hidden test."""
    hidden: Entry = entry(
        "2.1", status, message=f"message {SECRET}", staff=f"staff {SECRET}", visibility=visibility,
        test=f"test.py::{SECRET}", name=f"name {SECRET}", label=f"label {SECRET}", tags=(SECRET,), rubric=SECRET,
        written=SECRET, hide_errors=SECRET, needs=(SECRET,),
    )  # fmt: skip
    more = Case(f"two {SECRET}", Status.FAILED, hidden.earned, hidden.points, SECRET, SECRET)
    one = marked(
        "s", replace(hidden, cases=(*hidden.cases, more)), entry("1.1", staff=SECRET),
        environment=(f"torch lacks {SECRET}",), curves=(Curve(f"test.py::{SECRET}", SECRET, (0.5,)),),
        signature={"seed": SECRET},
    )  # fmt: skip
    html = page(one, notebook(("markdown", "# 2.1"), ("code", "def f(): pass")))
    assert SECRET not in html
    assert "A hidden test" in html and (feedback_page.NOT_MARKED in html) == status.is_open
    assert (HIDDEN in html) == (status is not Status.PASSED and not status.is_open)


def test_visible_tests() -> None:
    html = page(marked("s", entry("1.1", Status.FAILED, message="f(<3>) is 1; expected 2."), entry("1.2")))
    assert "f(&lt;3&gt;) is 1; expected 2." in html
    assert "0 of 2 points" in html and "2 of 4" in html


def test_questions_have_titles_and_subtotals(tmp_path: Path) -> None:
    (tmp_path / "handout.md").write_text("## Question 1. Words\n### 1.2 The `total` (4 points)\nAdd *all*.\n")
    score = marked("s", entry("1.2", Status.FAILED), entry("1.2", test="test_b.py::test_b"), entry("7"))
    first, last = feedback_page.group_by_question(score.score.entries, replace(ASSIGNMENT, folder=tmp_path))
    assert (first.title, first.worth, len(first.results)) == ("1.2 The `total`", "2 of 4 points", 2)
    assert (last.title, last.worth) == ("7", "2 of 2 points")


@pytest.mark.parametrize(
    ("visible", "hidden", "worth", "word"),
    [
        (Status.PASSED, Status.PASSED, "4 of 4 points", "passed"),
        (Status.PASSED, Status.FAILED, "2 of 4 points", "failed"),
        (Status.FAILED, Status.FAILED, "0 of 2 points", "failed"),
    ],
)
def test_hidden_copy_is_the_same_result(visible: Status, hidden: Status, worth: str, word: str) -> None:
    """A test and its repetition with other inputs are listed once; what was asked stays hidden."""
    one = entry("1", visible, test="test_a.py::test_f")
    other = entry("1", hidden, test="test_a.py::test_f_again", visibility="hidden", message=SECRET, staff=SECRET)
    [question] = feedback_page.group_by_question([one, other], ASSIGNMENT)
    [result] = question.results
    assert (result.worth, result.word) == (worth, word) and SECRET not in result.message
    assert ("With other, hidden inputs: failed, 0 of 2 points." in result.message) is (hidden is Status.FAILED)


def test_what_was_missing_in_an_answer(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_text(
        "questions:\n  '1':\n    title: Why\n    points: 2\n    model: Both.\n    items:\n"
        "      - {id: one, points: 1, text: The first reason.}\n"
        "      - {id: two, points: 1, text: The second reason.}\n"
    )
    message = "+1  The first reason.\n\nWell done."
    decided = replace(entry("1", Status.PARTIAL, message=message, rubric="1"), earned=Fraction(1), points=Fraction(2))
    [question] = feedback_page.group_by_question([decided], replace(ASSIGNMENT, folder=tmp_path))
    assert question.results[0].message == f"{message}\nMissing for full marks:\n+1  The second reason."


def test_told_after_grading() -> None:
    """Which mistake an answer by hand is, students read here first; nothing else of what staff read."""
    staff = "Traceback: line 3\nAfter grading: It equals a known mistake: the bias is missing."
    html = page(marked("s", entry("1.1", Status.FAILED, message="2d is not right.", staff=staff)))
    assert "2d is not right.\nIt equals a known mistake: the bias is missing." in html and "Traceback" not in html


def test_results_next_to_cells() -> None:
    cells = show_cells(
        notebook(
            ("markdown", "## Question 1.1: sums"), ("code", "x = 1"), ("code", "def bleu(a):\n    return a"),
            ("markdown", "### 1.10 In words"), ("code", "  "), ("code", "1 / 0"),
        ),
        executed=False,
    )  # fmt: skip
    assert [cell.number for cell in cells] == [0, 1, 2, 0, 3]
    marks = [
        feedback_page.show_result(e)
        for e in (
            entry("1.1"),
            entry("2.2", Status.FAILED, message="bleu(['a']) gave 1, expected 2."),
            entry("2.3", Status.ERROR, message="Your code raised ZeroDivisionError.\n  cell 3, line 1"),
            entry("1.10", Status.NEEDS_REVIEW),
            entry("7.7"),
            entry("7.8", Status.FAILED, message="bleu(x) is secret", visibility="hidden"),
        )
    ]
    beside, nowhere = feedback_page.assign_to_cells(marks, cells)
    assert {i: [m.number for m in ms] for i, ms in beside.items()} == {0: ["1.1"], 2: ["2.2"], 4: ["2.3"], 3: ["1.10"]}
    assert [m.number for m in nowhere] == ["7.7", "7.8"]


def test_outputs_are_shown_of_executed_notebooks_alone() -> None:
    outputs: list[Any] = [
        {"output_type": "stream", "text": ["printed ", "<b>"]},
        {"output_type": "execute_result", "data": {"text/html": "<table><tr><td>cell of a table", "text/plain": "no"}},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=\n"}},
        {"output_type": "error", "traceback": ["\x1b[31mZeroDivisionError\x1b[0m"]},
        {"output_type": "display_data", "data": 3},
        "no output",
    ]
    data = notebook(("code", "print()"), outputs=outputs)
    handed_in, executed = page(marked("s"), data), page(marked("s"), data, executed=True)
    assert "not executed" in handed_in and "printed" not in handed_in
    assert "printed &lt;b&gt;" in executed and "<td>cell of a table</td>" in executed
    assert "data:image/png;base64,iVBORw0KGgo=" in executed
    assert "ZeroDivisionError" in executed and "\x1b" not in executed


def test_outputs_not_shown() -> None:
    outputs: list[Any] = [
        {"output_type": "display_data", "data": {"application/javascript": "owned()", "text/plain": "the-plain-form"}},
        {"output_type": "display_data", "data": {"text/plain": "(widget)"},
         "metadata": {"viva": {"left_out": ["application/vnd.jupyter.widget-view+json", 7]}}},
        {"output_type": "display_data", "data": {"text/markdown": "some **bold** prose", "text/plain": "no"}},
        {"output_type": "display_data", "data": {"text/latex": "$x_1$", "text/plain": "no"}},
        {"output_type": "display_data", "data": {"image/svg+xml": "<svg><path d='M0 0'/></svg>", "text/plain": "no"}},
        {"output_type": "display_data", "data": {"image/svg+xml": "<svg", "text/plain": "no-drawing"}},
        *({"output_type": "stream", "text": f"line-{n}-of-many"} for n in range(20)),
    ]  # fmt: skip
    html = page(marked("s"), notebook(("code", "print()"), outputs=outputs), executed=True)
    assert "the-plain-form" in html and "(not shown here: application/javascript)" in html and "owned" not in html
    assert "(not shown here: application/vnd.jupyter.widget-view+json)" in html
    assert "<strong>bold</strong>" in html and "$x_1$" in html and "no-drawing" in html
    assert html.count('<img src="data:image/svg+xml;base64,') == 1
    assert "line-13-of-many" in html and "line-14-of-many" not in html and "6 more outputs" in html


def test_labels_of_cells() -> None:
    written = json.loads(notebook(*(("code", f"{n} + 1") for n in range(5))))
    for cell, said in zip(written["cells"], ["skipped", "timeout", "died", "<b>", 7], strict=True):
        cell["metadata"] = {"viva": {"status": said}}
    labels = [cell.label for cell in show_cells(json.dumps(written).encode(), executed=True)]
    assert labels == [
        "Cell 1, which was not run", "Cell 2, which did not end in time", "Cell 3, in which the program ended",
        "Cell 4", "Cell 5",
    ]  # fmt: skip
    assert show_cells(json.dumps(written).encode(), executed=False)[0].label == "Cell 1"


def test_definitions_only() -> None:
    written = json.loads(notebook(("code", "1")))
    written["metadata"]["viva"] = {"load": "definitions"}
    html = page(marked("s"), json.dumps(written).encode(), executed=True)
    assert feedback_page.DEFINED in html and feedback_page.EXECUTED not in html


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"no notebook", b'{"cells": 3}', b'{"cells": [' + b"[" * 5000], ids=lambda d: str(d[:9])
)
def test_broken_notebook(data: bytes) -> None:
    html = page(marked("s", entry("1.1")), data)
    assert "1.1" in html and "cannot be shown" in html


@pytest.mark.parametrize(
    "text", ["[" * 15_000, "> " * 9_000, "* " * 9_000, "`" * 15_000, "![](" * 4_000, "<" * 15_000, "|a" * 9_000,
             "$" * 15_000, "x" * (MAX_RENDERED + 1), "- a\n" * 4_000, "_*" * 9_000, "\\begin{a}" * 2_000],
    ids=lambda t: repr(t[:4]),
)  # fmt: skip
def test_hostile_markdown(text: str) -> None:
    assert "Text" in page(marked("s"), notebook(("markdown", text)))


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", ".", "a//b", "a\\b", "a\x00b", "a/", "..", "a\nb"])
def test_path_traversal(name: str) -> None:
    with pytest.raises(UsageError, match="relative path"):
        feedback_page.name_page(Attempt(name, Path("x"), ()))


def test_path_keeps_the_name_of_the_submission() -> None:
    assert str(feedback_page.name_page(Attempt("wrong/Zoë #1?.zip", Path("x"), ()))) == "wrong/Zoë #1?.zip.html"
