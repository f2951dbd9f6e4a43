"""What tests add up to: extra credit lies outside the maximum, and deductions take no more than was earned."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, Self

from viva.model.status import Status

EXTRA_CREDIT: Final = "extra_credit"
"""The tag of a test whose points are not part of the maximum."""


class GradedTest(Protocol):
    """A test with its points; a deduction has no points, and earns less than zero where it applies."""

    @property
    def status(self) -> Status:
        """Return what happened to it."""
        ...

    @property
    def earned(self) -> Fraction:
        """Return the points it earned; they count unless it is not graded yet."""
        ...

    @property
    def points(self) -> Fraction:
        """Return the points that can be earned."""
        ...

    @property
    def tags(self) -> Collection[str]:
        """Return its labels."""
        ...


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of some tests."""

    earned: Fraction
    """The points earned so far, never below zero."""
    points: Fraction
    """The points of all tests but extra credit, including those that are not graded yet."""
    still_open: Fraction
    """The points that are not graded yet, extra credit included."""
    graded_points: Fraction
    """The points of graded tests but extra credit: what `earned` is a part of, for people."""

    @classmethod
    def add_up(cls, tests: Iterable[GradedTest]) -> Self:
        """Return the sums of these tests."""
        earned = points = still_open = graded_points = Fraction(0)
        for test in tests:
            counted = Fraction(0) if EXTRA_CREDIT in test.tags else test.points
            points += counted
            if test.status.is_open:
                still_open += test.points
            else:
                earned += test.earned
                graded_points += counted
        return cls(max(earned, Fraction(0)), points, still_open, graded_points)
