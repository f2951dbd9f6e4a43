"""Exact points of cases and tests, and what an exception in a test says about whose fault it was."""

import errno
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalog_functions import catalog_function
from viva.examiner import outcome
from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import HIDDEN, NOT_LOADED, Outcome, judge
from viva.examiner.points import case_of, entry_of, exact_points, leader_value
from viva.grading.signals import NeedsReview
from viva.model import Entry, Status


def function(points: Fraction | int = 6, cases: int = 1, **fields: Any) -> TestFunction:
    """A test of so many cases, which are only counted."""
    return catalog_function(points=Fraction(points), items=[None] * cases, **fields)


def entry(outcomes: list[Outcome], points: Fraction | int = 6, **fields: Any) -> Entry:
    test = function(points, len(outcomes), **fields)
    return entry_of(test, [case_of(test, str(i), o, None, 0.0) for i, o in enumerate(outcomes)], outcomes)


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
def test_entry_of_cases(outcomes: list[Outcome], status: Status, earned: Fraction) -> None:
    made = entry(outcomes)
    assert made.status is status and made.earned == earned


@pytest.mark.parametrize(
    ("outcomes", "status", "earned"),
    [
        ([PASSED], Status.PASSED, 0),
        ([FAILED], Status.FAILED, -6),
        ([PASSED, FAILED, PASSED], Status.PARTIAL, -2),
        ([ERROR, TIMEOUT], Status.TIMEOUT, -6),
        ([Outcome(Status.PARTIAL, "some", share=Fraction(1, 4))], Status.PARTIAL, Fraction(-9, 2)),
        ([Outcome(Status.GRADER_ERROR)], Status.GRADER_ERROR, 0),
        ([Outcome(Status.NEEDS_REVIEW, written="prose", rubric="2.1")], Status.NEEDS_REVIEW, 0),
        ([Outcome(Status.SKIPPED)], Status.SKIPPED, 0),
    ],
)
def test_deduction_of_cases(outcomes: list[Outcome], status: Status, earned: Fraction) -> None:
    """It takes points only where the student's program was asked and is wrong."""
    made = entry(outcomes, 0, deduction=Fraction(6))
    assert made.status is status and made.earned == earned and made.points == 0


@pytest.mark.parametrize(("given", "earned"), [(-2, -2), (-9, -6), (3, 0)])
def test_set_points_of_deduction(given: int, earned: int) -> None:
    case = case_of(function(0, deduction=Fraction(6)), "", PASSED, Fraction(given), 0.0)
    assert case.earned == earned and (case.status is Status.PASSED) == (earned == 0)


@pytest.mark.parametrize("text", ["It learned.", ""])
def test_findings_of_review(text: str) -> None:
    """Student and marker read them; of a hidden test, the marker alone."""
    outcome = judge(NeedsReview(text, "3.1", ("0.9 is 9/10.", "dev equals test.")), answered=True)
    shown = case_of(function(), "", outcome, None, 0.0)
    assert shown.status is Status.NEEDS_REVIEW and shown.earned == 0
    assert shown.message.splitlines()[1:] == ["Noticed, without taking points:", "- 0.9 is 9/10.", "- dev equals test."]
    hidden = case_of(function(visibility="after_published"), "", outcome, None, 0.0)
    assert hidden.message.startswith("Not graded yet") and "9/10" not in hidden.message
    assert "9/10" in hidden.staff_message


@given(st.lists(st.sampled_from([PASSED, FAILED, ERROR]), min_size=1, max_size=40), st.fractions(0, 100))
def test_shares_add_up_exactly(outcomes: list[Outcome], points: Fraction) -> None:
    made = entry(outcomes, points)
    passed = sum(o is PASSED for o in outcomes)
    assert made.earned == points * passed / len(outcomes)


def test_hidden_test_message() -> None:
    f = function(visibility="hidden", cases=2)
    case = case_of(f, "n=17", Outcome(Status.FAILED, "f(17) gave 3"), None, 0.0)
    assert (case.message, case.label) == (HIDDEN, "")
    assert "f(17) gave 3" in case.staff_message


def test_hide_errors_replaces_message() -> None:
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
def test_set_score_invalid_number(points: object) -> None:
    with pytest.raises(ValueError, match="finite number of points"):
        exact_points(points, "test_x")


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [(3, 3), (np.int64(3), 3), (np.float32(0.5), 0.5), (np.array(2.5), 2.5), (Fraction(1, 4), 0.25), (2**60, 2.0**60)],
)
def test_leaderboard_numbers(given_value: object, kept: float) -> None:
    found = leader_value(given_value, "test_x", hidden=True)
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize("value", ["text", float("nan"), float("inf"), 10**400, [1], None, object()])
def test_leaderboard_of_hidden_test(value: object) -> None:
    with pytest.raises(ValueError, match="no finite number"):
        leader_value(value, "test_x", hidden=True)


TRY = "Try an empty list."


def test_advice_follows_failures() -> None:
    assert entry([FAILED, PASSED, ERROR], advice=TRY).message == f"0: why\n1: why\n2: why\n{TRY}"
    assert TRY not in entry([PASSED, PASSED], advice=TRY).message


def test_advice_of_hidden_test() -> None:
    advised = entry([FAILED, ERROR], visibility="hidden", advice=TRY)
    assert advised.message == f"{HIDDEN} {TRY}" and "why" in advised.staff_message


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Status.SKIPPED, "Skipped."),
        Outcome(Status.ERROR, NOT_LOADED),
        Outcome(Status.GRADER_ERROR, "ours"),
        Outcome(Status.NEEDS_REVIEW, "Not graded yet.", written="prose", rubric="2.1"),
    ],
)
def test_no_advice_without_answer(outcome: Outcome) -> None:
    assert TRY not in entry([outcome], advice=TRY).message


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENOMEM, errno.EIO])
def test_judge_machine_short_of_resources(code: int, answered: bool) -> None:
    """With an answer there it counted as the answer's fault."""
    assert judge(OSError(code, os.strerror(code)), answered=answered).status is Status.GRADER_ERROR


@pytest.mark.parametrize(
    "error", [FileNotFoundError(errno.ENOENT, "no such file"), OSError("of no number"), KeyError(1)]
)
def test_judge_exception_after_answer(error: Exception) -> None:
    assert judge(error, answered=True).status is Status.FAILED
    assert judge(error, answered=False).status is Status.GRADER_ERROR


def test_judge_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge(MemoryError(), answered=True).status is Status.FAILED
    monkeypatch.setattr(outcome, "ROOM_BYTES", 1 << 60)  # no machine has it: as if this one had no more
    assert judge(MemoryError(), answered=True).status is Status.GRADER_ERROR
