"""What is handed back about one student: the mark as it is written, and what explains it."""

from dataclasses import dataclass
from datetime import datetime
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
    attempt: str = ""
    """The name of what counted."""
    submitted_at: datetime | None = None
    why: str = ""
    """For the student, a sentence on each line."""
