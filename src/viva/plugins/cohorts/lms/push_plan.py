"""Decide what to send: a pure function of our grades and what the platform has now.

There is no journal. A plan made from the platform's present state holds only what is missing there, so a second run
continues the first one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import UNIT
from viva.model import Student
from viva.plugins.cohorts.grade_files.matching import plain, position_of, unique_positions
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.grade_files.scaled_points import scaled_points
from viva.plugins.cohorts.lms.feedback_files import FeedbackFile
from viva.plugins.cohorts.lms.platform import IDENTIFIERS, Change, Present, Task


@unique
class Action(StrEnum):
    """What happens to the grade of one student."""

    SET = "set"
    RAISE = "raise"
    LOWER = "lower"
    EXCUSE = "excuse"
    SAME = "same"
    HIGHER_THERE = "kept: higher there"
    EXCUSED_THERE = "kept: excused there"
    GRADED_THERE = "kept: has a grade there"
    """An excuse would remove the grade."""
    NOT_ASSIGNED = "not assigned there"
    NOT_ENROLLED = "no matching account"
    SHARED = "shares an account"
    NOT_COMPLETE = "not graded yet"
    NO_GRADE = "no grade"


CHANGES: Final = frozenset({Action.SET, Action.RAISE, Action.LOWER, Action.EXCUSE})
UNRESOLVED: Final = frozenset({Action.NOT_ASSIGNED, Action.NOT_ENROLLED, Action.SHARED})
"""A grade has nowhere to go: a person has to look."""
_FEEDBACK_WITH: Final = frozenset({Action.SET, Action.RAISE, Action.LOWER, Action.SAME})


@dataclass(frozen=True, slots=True)
class Row:
    """What is planned for one student."""

    student: Student
    action: Action
    ours: Fraction | None = None
    """On the platform's scale."""
    present: Present | None = None
    feedback: FeedbackFile | None = None
    """The page to send; it may turn out to be there already."""
    why: str = ""

    @property
    def change(self) -> Change | None:
        """Return what is sent; None if nothing is."""
        if self.present is None or (self.action not in CHANGES and self.feedback is None):
            return None
        points = self.ours if self.action in CHANGES and self.action is not Action.EXCUSE else None
        return Change(self.present, points, self.action is Action.EXCUSE, self.feedback, self.why)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user allows."""

    lower: bool = False
    """Send grades that are lower than those on the platform, and excuse students who have a grade there."""
    rescale: bool = False
    excuses: bool = True
    """Whether the platform knows excused students."""


def plan(
    grades: Sequence[ReturnedGrade],
    presents: Sequence[Present],
    task: Task,
    rules: Rules,
    feedback: Mapping[str, FeedbackFile],
) -> list[Row]:
    """Plan what to send for each grade.

    Args:
        grades: our grades; those that are not complete have no points.
        presents: what the platform has, for each account.
        task: the assignment on the platform.
        rules: what the user allows.
        feedback: the feedback page of each student, by the student's id.

    Raises:
        UsageError: the platform's maximum differs and `rescale` is False.
    """
    by_kind = _positions(presents)
    positions = [position_of(grade.student, by_kind) for grade in grades]
    rows = []
    for grade, position in zip(grades, positions, strict=True):
        if position is None:
            rows.append(Row(grade.student, _without_account(grade)))
        elif positions.count(position) > 1:
            rows.append(Row(grade.student, Action.SHARED))
        else:
            rows.append(_row(grade, presents[position], task, rules, feedback.get(grade.student.id)))
    return rows


def _positions(presents: Sequence[Present]) -> list[tuple[Sequence[str], Mapping[str, int]]]:
    by_kind: list[tuple[Sequence[str], Mapping[str, int]]] = []
    for kind, keys in IDENTIFIERS.items():
        called = ((i, plain(each.account.identifiers.get(kind, ""))) for i, each in enumerate(presents))
        by_kind.append((keys, unique_positions(called)))
    return by_kind


def _without_account(grade: ReturnedGrade) -> Action:
    return Action.NOT_ENROLLED if grade.points is not None or grade.state == "excused" else _nothing(grade)


def _nothing(grade: ReturnedGrade) -> Action:
    return Action.NOT_COMPLETE if grade.state == "open" else Action.NO_GRADE


def _row(grade: ReturnedGrade, present: Present, task: Task, rules: Rules, feedback: FeedbackFile | None) -> Row:
    ours = scaled_points(grade, task.maximum, f"`{task.title}` on the platform", rescale=rules.rescale)
    action = _action(grade, ours, present, rules)
    wanted = feedback if action in _FEEDBACK_WITH and ours is not None else None
    if wanted is not None and present.files is not None and wanted.is_among(present.files):
        wanted = None
    return Row(grade.student, action, ours, present, wanted, grade.why)


def _action(grade: ReturnedGrade, ours: Fraction | None, present: Present, rules: Rules) -> Action:
    if grade.state == "excused":
        return _excuse(present, rules)
    if ours is None:
        return _nothing(grade)
    if not present.is_assigned:
        return Action.NOT_ASSIGNED
    if present.excused:
        return Action.EXCUSED_THERE
    if present.grade is None:
        return Action.SET
    difference = _units(ours) - _units(present.grade)
    if difference == 0:
        return Action.SAME
    if difference > 0:
        return Action.RAISE
    return Action.LOWER if rules.lower else Action.HIGHER_THERE


def _excuse(present: Present, rules: Rules) -> Action:
    if not rules.excuses:
        return Action.NO_GRADE
    if present.excused:
        return Action.SAME
    if not present.is_assigned:
        return Action.NOT_ASSIGNED
    return Action.EXCUSE if present.grade is None or rules.lower else Action.GRADED_THERE


def same_points(one: Fraction | None, other: Fraction | None) -> bool:
    """Return whether two grades are equal as far as platforms store them."""
    if one is None or other is None:
        return one is other
    return _units(one) == _units(other)


def _units(points: Fraction) -> int:
    return round(points * UNIT)
