"""`viva verify` says where rubric.yaml and the tests do not fit each other."""

from dataclasses import replace
from fractions import Fraction

import pytest

from viva.config.rubric import Item, Question, Rubric
from viva.model import Entry, Score, Status, Submission
from viva.verify.expected_verdicts import ExampleSubmission
from viva.verify.rubric_checks import rubric_complaints
from viva.verify.verdict_check import blank_answers

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
def test_what_does_not_fit(questions: list[Question], entries: list[Entry], said: list[str]) -> None:
    found = rubric_complaints(Rubric(tuple(questions)), [score(*entries)])
    assert len(found) == len(said)
    assert all(part in complaint for part, complaint in zip(said, found, strict=True))


@pytest.mark.long
def test_a_question_that_one_known_submission_reaches_is_asked() -> None:
    """A key without an answer in words, and a submission that has one."""
    unanswered = entry("test_why", "1", Status.FAILED, points=2)
    assert rubric_complaints(Rubric((ONE,)), [score(SUMS, unanswered), score(SUMS, WHY)]) == ()


@pytest.mark.parametrize("verdict", ["accepted", "wrong"])
def test_a_right_submission_has_a_text_for_every_question(verdict: str) -> None:
    example = ExampleSubmission(f"{verdict}/a", verdict, Submission("a", (), "0"))
    blank = blank_answers(example, score(entry("test_why", "1", Status.NEEDS_REVIEW, "1"), SUMS))
    found = [text for text in blank if "no text was found for 1, which a person grades" in text]
    assert len(found) == (verdict == "accepted")
    answered = replace(entry("test_why", "1", Status.NEEDS_REVIEW, "1"), written="Because.")
    assert not any("no text" in text for text in blank_answers(example, score(answered, SUMS)))
