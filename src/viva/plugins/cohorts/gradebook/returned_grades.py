"""Grades as they are returned: rounded, with their reasons in words."""

from collections.abc import Iterable

from viva.config.policy import Rounding
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.gradebook.grade import Grade, State
from viva.plugins.cohorts.gradebook.rounding import rounded


def returned_grades(grades: Iterable[Grade], rounding: Rounding, *, with_open: bool = False) -> list[ReturnedGrade]:
    """Return what is written for each grade.

    Args:
        with_open: write grades that are not complete with the points so far, unless nothing of them is graded; else
            nothing is written for them, because a platform would show points as lost that are not graded yet.
    """
    return [_returned(grade, rounding, with_open=with_open) for grade in grades]


def _returned(grade: Grade, rounding: Rounding, *, with_open: bool) -> ReturnedGrade:
    has_graded_points = grade.still_open < grade.maximum or grade.adjusted != 0
    is_written = grade.points is not None and (grade.state is not State.OPEN or (with_open and has_graded_points))
    return ReturnedGrade(
        student=grade.student,
        state=grade.state.value,
        points=rounded(grade.points, rounding) if is_written and grade.points is not None else None,
        maximum=grade.maximum,
        exact=grade.points if is_written else None,
        earned=grade.earned,
        penalty=grade.penalty,
        adjusted=grade.adjusted,
        still_open=grade.still_open,
        attempt=grade.attempt.name if grade.attempt else "",
        submitted_at=grade.attempt.submitted_at if grade.attempt else None,
        why="\n".join(f"{reason[:1].upper()}{reason[1:]}." for reason in grade.reasons),
    )
