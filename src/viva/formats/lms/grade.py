"""What is handed back about one student: the mark as it is written, and what explains it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from viva.model import Student


@dataclass(frozen=True, slots=True)
class Grade:
    """One student's mark, rounded."""

    student: Student
    state: str
    """"graded", "open", "missing" or "excused"."""
    points: Fraction | None
    """A decimal of at most four places; None where nothing is to be written."""
    maximum: Fraction
    exact: Fraction | None = None
    """The points before they were rounded, for a platform with another maximum."""
    earned: Fraction = Fraction(0)
    """Before penalties."""
    penalty: Fraction = Fraction(0)
    adjusted: Fraction = Fraction(0)
    still_open: Fraction = Fraction(0)
    delivery: str = ""
    """The name of what counted."""
    submitted_at: datetime | None = None
    why: str = ""
    """For the student, a sentence on each line."""


def decimal(points: Fraction, *, least: int = 0) -> str:
    """A decimal of at most four places without an exponent; `least` places at least: `87.50`."""
    exact = round(points * 10_000)
    text = f"{Decimal(exact).scaleb(-4):f}"
    whole, _, places = text.partition(".")
    places = places.rstrip("0").ljust(least, "0")
    return f"{whole}.{places}" if places else whole
