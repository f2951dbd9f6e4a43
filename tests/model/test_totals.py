"""Sums of tests: extra credit is outside the maximum, deductions take no more than was earned."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from viva.model import Status
from viva.model.totals import EXTRA_CREDIT, Totals


class Graded(NamedTuple):
    """A graded test; points below zero are a deduction that applies."""

    status: Status
    earned: Fraction
    points: Fraction
    tags: Sequence[str] = ()


def graded(earned: int, points: int, *tags: str, status: Status = Status.PARTIAL) -> Graded:
    return Graded(status, Fraction(earned), Fraction(points), tags)


def in_numbers(totals: Totals) -> list[float]:
    return [float(points) for points in (totals.earned, totals.points, totals.graded_points, totals.still_open)]


def test_extra_credit_is_outside_the_maximum() -> None:
    totals = Totals.add_up([graded(8, 10), graded(3, 5, EXTRA_CREDIT)])
    assert in_numbers(totals) == [11, 10, 10, 0]


def test_pending_extra_credit() -> None:
    """It is pending, but what was earned is still a part of the 10 points of the other test."""
    totals = Totals.add_up([graded(8, 10), graded(0, 5, EXTRA_CREDIT, status=Status.NEEDS_REVIEW)])
    assert in_numbers(totals) == [8, 10, 10, 5]


def test_deduction_takes_points() -> None:
    totals = Totals.add_up([graded(8, 10), graded(-2, 0)])
    assert in_numbers(totals) == [6, 10, 10, 0]


@given(st.lists(st.integers(-20, 20)))
def test_total_is_never_negative(earned: list[int]) -> None:
    totals = Totals.add_up([graded(points, max(points, 0)) for points in earned])
    assert totals.earned == max(0, sum(earned))
