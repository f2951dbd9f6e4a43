"""Grades as they are returned: rounded, with their reasons in words."""

from collections.abc import Iterable

from viva.config.policy import Rounding
from viva.formats.lms.returned_grade import Grade
from viva.gradebook.grade import Mark, State
from viva.gradebook.rounding import rounded


def grades_of(marks: Iterable[Mark], rounding: Rounding, *, with_open: bool = False) -> list[Grade]:
    """Return what is written for each grade.

    Args:
        with_open: write grades that are not complete with the points so far; else nothing is written for them, because
            a platform would show points as lost that are not graded yet.
    """
    return [_grade(mark, rounding, with_open=with_open) for mark in marks]


def _grade(mark: Mark, rounding: Rounding, *, with_open: bool) -> Grade:
    told = mark.points is not None and (with_open or mark.state is not State.OPEN)
    return Grade(
        student=mark.student,
        state=mark.state.value,
        points=rounded(mark.points, rounding) if told and mark.points is not None else None,
        maximum=mark.maximum,
        exact=mark.points if told else None,
        earned=mark.earned,
        penalty=mark.penalty,
        adjusted=mark.adjusted,
        still_open=mark.still_open,
        attempt=mark.attempt.name if mark.attempt else "",
        submitted_at=mark.attempt.submitted_at if mark.attempt else None,
        why="\n".join(f"{reason[:1].upper()}{reason[1:]}." for reason in mark.reasons),
    )
