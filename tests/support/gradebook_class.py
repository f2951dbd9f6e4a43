"""A class on paper: students, submissions with scores, and a policy; for the tests of grades."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from viva.config.policy import Amount, Decision, Policy, Rate, Span, Step
from viva.model import Attempt, Case, Entry, Score, ScoredAttempt, Status, Student

DUE = datetime(2026, 12, 1, 23, 59, tzinfo=UTC)
BY = Decision("M. Weber", "ill")
ADA, BO, KIM = Student("ada", "Ada Lovelace"), Student("bo"), Student("kim")
MICROSECOND = timedelta(microseconds=1)


def share(percent: int, *, of_maximum: bool = False) -> Amount:
    return Amount(share=Fraction(percent, 100), of_maximum=of_maximum)


def hours(number: int) -> Span:
    return Span(0, number * 3600, f"{number}h")


def days(number: int) -> Span:
    return Span(number, 0, f"{number}d")


STEPS = (Step(hours(24), minus=share(10)), Step(hours(72), minus=share(30)))
RATE = Rate(days(1), share(10), share(50))
POLICY = Policy(due=DUE, maximum=Fraction(100), late=STEPS)


def score(earned: Fraction | int, still_open: Fraction | int = 0, points: Fraction | int = 100) -> Score:
    """A score with so many points won, so many open, and the rest lost."""
    won, left = Fraction(earned), Fraction(still_open)
    parts = [
        (Status.PASSED, won, won),
        (Status.NEEDS_REVIEW, Fraction(0), left),
        (Status.FAILED, Fraction(0), Fraction(points) - won - left),
    ]
    entries = tuple(
        Entry(f"t::{status}", "", "1", "visible", status, got, most, (Case("", status, got, most, ""),))
        for status, got, most in parts
        if most
    )
    return Score("s", "0" * 64, "masks", 1, entries)


def handed(
    earned: Fraction | int = 70,
    late: timedelta | None = timedelta(0),
    students: Sequence[Student] = (ADA,),
    *,
    still_open: int = 0,
    points: int = 100,
    attempt: int = 1,
    name: str = "",
) -> ScoredAttempt:
    """A submission so long after the deadline; None where no time is known."""
    when = None if late is None else DUE + late
    name = name or f"{students[0].id if students else 'nobody'}/{attempt}"
    return ScoredAttempt(
        Attempt(name, Path(name), tuple(students), submitted_at=when, number=attempt),
        score(earned, still_open, points),
    )
