"""Questions that a course drops after the fact: everybody gets their points, or they do not count."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from viva.config import Assignment
from viva.config.read_config import suggest
from viva.examiner.catalog import TestFunction
from viva.model import Case, Entry, Status
from viva.model.errors import CourseError
from viva.model.score import names_of
from viva.model.totals import EXTRA_CREDIT

_MESSAGES: Final = {
    "give": "This question was dropped: everybody gets its points.",
    "remove": "This question was dropped: it does not count.",
}


def check_dropped(assignment: Assignment, functions: Sequence[TestFunction]) -> None:
    """Check what `dropped` of assignment.yaml names against the assignment's tests.

    Raises:
        CourseError: it names no question or test, or `points` still counts what was removed.
    """
    if not assignment.dropped:
        return
    path = assignment.folder / "assignment.yaml"
    names = {name for function in functions for name in names_of(function.test_id, function.number)}
    for name in assignment.dropped:
        if name not in names:
            questions = sorted({function.number for function in functions if function.number})
            raise CourseError(f"{path}: dropped: `{name}` is neither a question nor a test{suggest(name, questions)}")
    counted = [f for f in functions if EXTRA_CREDIT not in f.tags]
    removed = sum((f.points for f in counted if _decision(assignment, f.test_id, f.number) == "remove"), Fraction(0))
    total = sum((f.points for f in counted), Fraction(0))
    if removed and assignment.points == total:
        raise CourseError(
            f"{path}: dropped: {removed} points are removed, and `points` still counts them; write {total - removed}."
        )


def without_dropped(assignment: Assignment, entry: Entry) -> Entry:
    """Return the entry of a test as it counts: as it was graded, unless its question was dropped."""
    decision = _decision(assignment, entry.test_id, entry.number)
    if not decision:
        return entry
    points = entry.points if decision == "give" else Fraction(0)
    case = Case("", Status.PASSED, points, points, _MESSAGES[decision])
    return replace(
        entry, status=Status.PASSED, earned=points, points=points, cases=(case,), written="", rubric="", needs=()
    )


def _decision(assignment: Assignment, test_id: str, number: str) -> str:
    names = names_of(test_id, number)
    return next((decision for name, decision in assignment.dropped.items() if name in names), "")
