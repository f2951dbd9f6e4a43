"""`viva verify` says where the handout or rubric.yaml does not fit the tests."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from viva.config.rubric import Item, Question, Rubric
from viva.model import Entry, Score, Status, Submission
from viva.plugins.verify.expected_verdicts import ExampleSubmission
from viva.plugins.verify.verdict_check import blank_answers, heading_complaints
from viva.plugins.verify.verify_course import rubric_complaints


@dataclass
class _Test:
    number: str
    points: Fraction


@dataclass
class _Assignment:
    folder: Path


def complaints(tmp_path: Path, handout: str, **points: int) -> tuple[str, ...]:
    (tmp_path / "handout.md").write_text(handout, "utf-8")
    tests: Any = [_Test(number.replace("_", "."), Fraction(value)) for number, value in points.items()]
    assignment: Any = _Assignment(tmp_path)
    return heading_complaints(assignment, tests)


@pytest.mark.parametrize(
    "handout",
    ["## 1. Words (5 points)\n### 1.1 Count (3 points)\n", "**1.1** (3 points) Count.\n", "1.1 Count: 9 points\n"],
)
def test_right_heading_points(tmp_path: Path, handout: str) -> None:
    assert complaints(tmp_path, handout, **{"1_1": 3, "1_10": 2}) == ()


def test_parts_with_a_common_prefix(tmp_path: Path) -> None:
    assert (
        complaints(tmp_path, "### 1c.i Same (4 points)\n### 1c.ii How many? (7 points)\n", **{"1c_i": 4, "1c_ii": 7})
        == ()
    )


def test_wrong_heading_points(tmp_path: Path) -> None:
    found = complaints(tmp_path, "## 2.1 Softmax (5 points)\n## 2.2 Prose (1 point)\n", **{"2_1": 3})
    assert found == ("the tests of 2.1 add up to 3 points, but handout.md says 5 points",)


ONE = Question("1", "Why?", Fraction(2), (Item("all", Fraction(2), "everything"),), evidence=("test_sums", "1"))


def entry(test: str, number: str, status: Status = Status.PASSED, rubric: str = "", points: int = 1) -> Entry:
    return Entry(
        f"test_a.py::{test}", test, number, "visible", status, Fraction(0), Fraction(points), (), rubric=rubric
    )


def score(*entries: Entry) -> Score:
    return Score("a", "0" * 64, "words", 1, entries)


SUMS = entry("test_sums", "1")
WHY = entry("test_why", "1", Status.NEEDS_REVIEW, "1", 2)


@pytest.mark.parametrize(
    ("questions", "entries", "said"),
    [
        ([ONE], [SUMS, WHY], []),
        ([], [entry("test_why", "1", Status.NEEDS_REVIEW, "1")], []),  # an assignment may do without a rubric
        ([ONE], [SUMS], ["question 1 of rubric.yaml is asked by no test that was run"]),
        ([ONE], [SUMS, entry("test_why", "1", Status.DEFERRED)], []),  # not known before it is run
        (
            [ONE],
            [SUMS, replace(WHY, points=Fraction(3))],
            ["question 1 of rubric.yaml has 2 points, and test_a.py::test_"],
        ),
        (
            [ONE],
            [SUMS, WHY, entry("test_how", "2", Status.NEEDS_REVIEW, "2")],
            ["test_a.py::test_how is graded with the rubric's question 2, and rubric.yaml has none; there are: 1"],
        ),
        ([replace(ONE, evidence=("test_sum",))], [SUMS, WHY], ["there is no such test; did you mean `test_sums`?"]),
        (
            [replace(ONE, evidence=("test_why",))],
            [SUMS, WHY],
            ["names `test_why` as evidence, but there is no such test"],
        ),
    ],
)
def test_rubric_complaints(questions: list[Question], entries: list[Entry], said: list[str]) -> None:
    found = rubric_complaints(Rubric(tuple(questions)), [score(*entries)])
    assert len(found) == len(said)
    assert all(part in complaint for part, complaint in zip(said, found, strict=True))


@pytest.mark.parametrize("verdict", ["accepted", "wrong"])
def test_blank_answers(verdict: str) -> None:
    example = ExampleSubmission(f"{verdict}/a", verdict, Submission("a", (), "0"))
    blank = blank_answers(example, score(entry("test_why", "1", Status.NEEDS_REVIEW, "1"), SUMS))
    found = [text for text in blank if "no text was found for 1, which a person grades" in text]
    assert len(found) == (verdict == "accepted")
    answered = replace(entry("test_why", "1", Status.NEEDS_REVIEW, "1"), written="Because.")
    assert not any("no text" in text for text in blank_answers(example, score(answered, SUMS)))
