"""Marks of a few students, for the tests of what platforms take."""

from fractions import Fraction
from typing import Any

from viva.model import Student
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

ADA = Student("ada", "Ada Lovelace", "ada@x.edu", also={"canvas": "101", "moodle": "2001", "brightspace": "9001"})
BO = Student("bo", "Bo Müller", "bo@x.edu", also={"canvas": "102", "moodle": "2002", "brightspace": "9002"})


def grade(student: Student, points: str | None, state: str = "graded", **more: Any) -> ReturnedGrade:
    """A mark of 100."""
    exact = None if points is None else Fraction(points)
    return ReturnedGrade(student, state, exact, Fraction(100), **more)


EXCUSED = grade(BO, None, "excused")
OPEN = grade(BO, None, "open")
