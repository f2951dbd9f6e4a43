"""What is returned for one student: the grade as it is written, and its explanation."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from viva.model import Student


@dataclass(frozen=True, slots=True)
class ReturnedGrade:
    """One student's grade, rounded."""

    student: Student
    state: str
    """"graded", "open", "missing" or "excused"."""
    points: Fraction | None
    """A decimal of at most four places; None where nothing is written."""
    maximum: Fraction
    exact: Fraction | None = None
    """The points before rounding, for a platform with another maximum."""
    earned: Fraction = Fraction(0)
    """Before penalties."""
    penalty: Fraction = Fraction(0)
    adjusted: Fraction = Fraction(0)
    still_open: Fraction = Fraction(0)
    attempt: str = ""
    """The name of the attempt that counts."""
    submitted_at: datetime | None = None
    why: str = ""
    """For the student, one sentence on each line."""
