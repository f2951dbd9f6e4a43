"""Exact points: from the outcomes of a function's cases to its entry."""

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import HIDDEN, NOT_LOADED, Outcome
from viva.model import Case, Entry, Status
from viva.model.hand_grading import UNREADABLE

LEADER_CAP: Final = 100
"""Characters of a text on the leaderboard."""


def case_of(function: TestFunction, label: str, outcome: Outcome, set_points: Fraction | None, wall_s: float) -> Case:
    """Return one case with its points; the student sees one fixed sentence for a hidden case."""
    points, deduction = function.points_per_case, function.deduction_per_case
    status, earned = outcome.status, _earned(outcome, points, deduction)
    if set_points is not None and status.takes_set_points:
        earned = min(max(set_points, -deduction), points)
        status = Status.of_points(earned, points) if status is Status.PASSED else status
    message, staff = outcome.message, outcome.staff_message
    if function.hidden and message and not status.is_open:
        message, staff = HIDDEN, "\n".join(t for t in (outcome.message, staff) if t)
    elif function.hidden and status is Status.NEEDS_REVIEW:  # findings would reveal what was asked
        message, staff = message.partition("\n")[0], message
    elif function.hide_errors is not None and status.earns_nothing:
        message, staff = function.hide_errors, "\n".join(t for t in (outcome.message, staff) if t)
    return Case(label if not function.hidden else "", status, earned, points, message, staff, wall_s)


def entry_of(function: TestFunction, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Entry:
    """Return one entry per function; its points are the exact sum over its cases."""
    review = next((o for o in outcomes if o.status is Status.NEEDS_REVIEW), None)
    cases = _with_advice(function, cases, outcomes)
    return Entry(
        test_id=function.test_id,
        name=function.name,
        number=function.number,
        visibility=function.visibility,
        status=_together(cases, function.points),
        earned=sum((c.earned for c in cases), Fraction(0)),
        points=function.points,
        cases=tuple(cases),
        tags=function.tags,
        hide_errors=function.hide_errors,
        written=review.written if review else "",
        rubric=_rubric(function, review) if review else "",
        needs=function.needs,
    )


def _rubric(function: TestFunction, review: Outcome) -> str:
    """Return the rubric's question; a test whose answer cannot be read is a question of its own."""
    if review.rubric != UNREADABLE:
        return review.rubric
    return UNREADABLE + function.test_id.replace(".py::", ".").replace("::", ".")


def _with_advice(function: TestFunction, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Sequence[Case]:
    """Add the author's advice to the last case that was asked and lost points; for a hidden test, to all such cases."""
    lost = [n for n, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)) if _may_be_advised(case, outcome)]
    if not function.advice or not lost:
        return cases
    advised, between = (lost, " ") if function.hidden else (lost[-1:], "\n")
    return [
        replace(case, message=f"{case.message}{between}{function.advice}".strip()) if n in advised else case
        for n, case in enumerate(cases)
    ]


def _may_be_advised(case: Case, outcome: Outcome) -> bool:
    """Return whether a case was asked and lost points."""
    asked = case.status is not Status.SKIPPED and outcome.message != NOT_LOADED
    return asked and not case.status.is_open and case.earned < case.points


def exact_points(value: Any, where: str) -> Fraction:
    """Return the exact value that `set_score` was given; it is clamped later.

    Raises:
        ValueError: it is NaN, infinite or not a number; if a student's value led to it, it is the student's error.
    """
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{where}: set_score({value!r}); expected a finite number of points.")
    return Fraction(str(number))


def leader_value(value: Any, where: str, *, hidden: bool) -> int | float | str:
    """Return the value that `set_leaderboard_value` was given, as plain data; a hidden test shows numbers only.

    Raises:
        ValueError: it is neither a finite number nor, in a visible test, a text.
    """
    if type(value) is str and not hidden:
        return value[:LEADER_CAP]
    try:
        number = float(value) if type(value) is not str else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{where}: set_leaderboard_value was given a {type(value).__name__}, no finite number.")
    return int(number) if isinstance(value, numbers.Integral) and abs(number) < 2**53 else number


def _earned(outcome: Outcome, points: Fraction, deduction: Fraction) -> Fraction:
    if outcome.status is Status.PASSED:
        return points
    share = min(max(outcome.share or Fraction(0), Fraction(0)), Fraction(1))
    taken = (1 - share) * deduction if outcome.status.is_wrong else Fraction(0)
    return share * points - taken


def _together(cases: Sequence[Case], points: Fraction) -> Status:
    statuses = {c.status for c in cases}
    gravest = Status.gravest(statuses)
    if gravest.is_open or statuses == {Status.PASSED}:
        return gravest
    if any(c.earned > 0 for c in cases) or (points == 0 and Status.PASSED in statuses):
        return Status.PARTIAL
    return gravest
