"""A mark: what one student gets for one assignment, and why."""

from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction

from viva.model import Attempt, Student


@unique
class State(StrEnum):
    """How far a mark is."""

    GRADED = "graded"
    OPEN = "open"
    """Points that nobody has decided yet may still change it, or the deadline has not passed."""
    MISSING = "missing"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class Mark:
    """What one student gets; every number is exact, and rounded only where it is handed back."""

    student: Student
    state: State
    points: Fraction | None
    """After penalties and adjustments, never below zero; None where there is no mark."""
    maximum: Fraction
    earned: Fraction
    """By the submission that counts, before anything was taken off."""
    penalty: Fraction
    """Taken off for lateness."""
    adjusted: Fraction
    """Given by staff; negative where points were taken."""
    still_open: Fraction
    """Points of the submission that counts which nobody has decided yet."""
    attempt: Attempt | None
    """The one that counts."""
    reasons: tuple[str, ...]
    """Why, in sentences for the student."""
