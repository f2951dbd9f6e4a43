"""Exact points: shares, clamping, and what several cases come to together."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import HIDDEN, NOT_LOADED, Outcome, judge
from viva.examiner.points import case_of, entry_of, exact_points, leader_value
from viva.grading.signals import NeedsReview
from viva.model import Entry, Status


def function(
    points: Fraction | int = 6, cases: int = 1, visibility: str = "visible", hide_errors: str | None = None
) -> TestFunction:
    made = TestFunction(
        test_id="test_x.py::test_x",
        name="A test.",
        number="1",
        points=Fraction(points),
        visibility=visibility,
        tags=(),
        hide_errors=hide_errors,
        depends=(),
        gpu=None,
        training=False,
        timeout_s=None,
        leaderboard=None,
    )
    made.items = [None] * cases  # type: ignore[list-item]  # only counted
    return made


def entry(outcomes: list[Outcome], points: Fraction | int = 6, **kwargs: str) -> object:
    f = function(points, len(outcomes), **kwargs)
    return entry_of(f, [case_of(f, str(i), o, None, 0.0) for i, o in enumerate(outcomes)], outcomes)


PASSED, FAILED, ERROR, TIMEOUT = (
    Outcome(s, "why") for s in (Status.PASSED, Status.FAILED, Status.ERROR, Status.TIMEOUT)
)


@pytest.mark.parametrize(
    ("outcomes", "status", "earned"),
    [
        ([PASSED], Status.PASSED, 6),
        ([FAILED], Status.FAILED, 0),
        ([PASSED, FAILED, PASSED], Status.PARTIAL, 4),
        ([FAILED, ERROR], Status.ERROR, 0),
        ([FAILED, TIMEOUT, ERROR], Status.TIMEOUT, 0),
        ([Outcome(Status.PARTIAL, "some", share=Fraction(1, 4))], Status.PARTIAL, Fraction(3, 2)),
        ([PASSED, Outcome(Status.GRADER_ERROR)], Status.GRADER_ERROR, 3),
        ([Outcome(Status.NEEDS_REVIEW, written="prose", rubric="2.1")], Status.NEEDS_REVIEW, 0),
        ([Outcome(Status.PARTIAL, share=Fraction(7))], Status.PARTIAL, 6),
    ],
)
def test_what_cases_come_to(outcomes: list[Outcome], status: Status, earned: Fraction) -> None:
    made = entry(outcomes)
    assert (made.status, made.earned) == (status, earned)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["It learned.", ""])
def test_findings_beside_a_review_take_no_points(text: str) -> None:
    """Student and marker read them; of a hidden test, the marker alone."""
    outcome = judge(NeedsReview(text, "3.1", ("0.9 is 9/10.", "dev equals test.")), answered=True)
    shown = case_of(function(), "", outcome, None, 0.0)
    assert (shown.status, shown.earned) == (Status.NEEDS_REVIEW, 0)
    assert shown.message.splitlines()[1:] == ["Noticed, without taking points:", "- 0.9 is 9/10.", "- dev equals test."]
    hidden = case_of(function(visibility="after_published"), "", outcome, None, 0.0)
    assert hidden.message.startswith("Not graded yet") and "9/10" not in hidden.message
    assert "9/10" in hidden.staff_message


@given(st.lists(st.sampled_from([PASSED, FAILED, ERROR]), min_size=1, max_size=40), st.fractions(0, 100))
def test_shares_add_up_exactly(outcomes: list[Outcome], points: Fraction) -> None:
    made = entry(outcomes, points)
    passed = sum(o is PASSED for o in outcomes)
    assert made.earned == points * passed / len(outcomes)  # type: ignore[attr-defined]


def test_a_hidden_test_says_one_fixed_sentence_and_names_no_case() -> None:
    f = function(visibility="hidden", cases=2)
    case = case_of(f, "n=17", Outcome(Status.FAILED, "f(17) gave 3"), None, 0.0)
    assert (case.message, case.label) == (HIDDEN, "")
    assert "f(17) gave 3" in case.staff_message


def test_hide_errors_replaces_the_message() -> None:
    case = case_of(function(hide_errors="No hint here."), "", FAILED, None, 0.0)
    assert (case.message, case.staff_message) == ("No hint here.", "why")


@pytest.mark.parametrize(
    ("given_points", "earned", "status"),
    [(99, 6, Status.PASSED), (-1, 0, Status.FAILED), (3, 3, Status.PARTIAL), (0.1, Fraction(1, 10), Status.PARTIAL)],
)
def test_set_score_is_clamped(given_points: float, earned: Fraction, status: Status) -> None:
    case = case_of(function(), "", PASSED, exact_points(given_points, "here"), 0.0)
    assert (case.earned, case.status) == (earned, status)


@pytest.mark.parametrize("points", [float("nan"), float("inf"), "many", None])
def test_set_score_refuses_what_is_no_number(points: object) -> None:
    with pytest.raises(ValueError, match="finite number of points"):
        exact_points(points, "test_x")


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [(3, 3), (np.int64(3), 3), (np.float32(0.5), 0.5), (np.array(2.5), 2.5), (Fraction(1, 4), 0.25), (2**60, 2.0**60)],
)
def test_the_leaderboard_keeps_numbers_as_plain_data(given_value: object, kept: float) -> None:
    found = leader_value(given_value, "test_x", hidden=True)
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize("value", ["text", float("nan"), float("inf"), 10**400, [1], None, object()])
def test_a_hidden_test_puts_nothing_but_finite_numbers_on_the_leaderboard(value: object) -> None:
    with pytest.raises(ValueError, match="no finite number"):
        leader_value(value, "test_x", hidden=True)


def test_a_visible_test_may_put_a_short_text_on_the_leaderboard() -> None:
    assert leader_value("x" * 1000, "test_x", hidden=False) == "x" * 100


TRY = "Try an empty list."


def advised(outcomes: list[Outcome], visibility: str = "visible") -> Entry:
    f = replace(function(6, len(outcomes), visibility), advice=TRY, items=[None] * len(outcomes))  # type: ignore[list-item]
    return entry_of(f, [case_of(f, str(i), o, None, 0.0) for i, o in enumerate(outcomes)], outcomes)


def test_the_advice_of_the_author_follows_what_went_wrong() -> None:
    assert advised([FAILED, PASSED, ERROR]).message == f"0: why\n1: why\n2: why\n{TRY}"
    assert TRY not in advised([PASSED, PASSED]).message


def test_a_hidden_test_gives_its_advice_and_nothing_else() -> None:
    assert advised([FAILED, ERROR], "hidden").message == f"{HIDDEN} {TRY}"
    assert "why" in advised([FAILED], "hidden").staff_message


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Status.SKIPPED, "Skipped."),
        Outcome(Status.ERROR, NOT_LOADED),
        Outcome(Status.GRADER_ERROR, "ours"),
        Outcome(Status.NEEDS_REVIEW, "Not graded yet.", written="prose", rubric="2.1"),
    ],
)
def test_who_was_not_asked_gets_no_advice(outcome: Outcome) -> None:
    assert TRY not in advised([outcome]).message
