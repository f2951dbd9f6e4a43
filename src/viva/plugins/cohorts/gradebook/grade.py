"""The grade of one student for one assignment, and the reasons for it."""

from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction

from viva.model import Attempt, Student


@unique
class State(StrEnum):
    """The state of a grade."""

    GRADED = "graded"
    OPEN = "open"
    """Points that are not graded yet may still change it, or the deadline has not passed."""
    MISSING = "missing"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class Grade:
    """What one student gets; every number is exact, and rounded only where it is returned."""

    student: Student
    state: State
    points: Fraction | None
    """After penalties and adjustments, never below zero; None where there is no grade."""
    maximum: Fraction
    earned: Fraction
    """By the attempt that counts, before penalties."""
    penalty: Fraction
    """Taken off for lateness."""
    adjusted: Fraction
    """Adjusted by staff; negative where points were taken off."""
    still_open: Fraction
    """Points of the attempt that counts which are not graded yet."""
    attempt: Attempt | None
    """The one that counts."""
    reasons: tuple[str, ...]
    """The reasons, as sentences for the student."""
