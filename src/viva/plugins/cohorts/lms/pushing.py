"""Decide what to send, and send it one student at a time.

The plan is a pure function of our grades and what the platform has now. There is no journal: a plan made from the
platform's present state holds only what is missing there, so a second run continues the first one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from fractions import Fraction
from typing import Final

from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.returned_grade import (
    ReturnedGrade,
    find_position,
    index_positions,
    normalize_identifier,
    scale_points,
)
from viva.plugins.cohorts.lms.answers import LmsError, NotAllowedError, UnreachableError
from viva.plugins.cohorts.lms.feedback_files import FeedbackFile
from viva.plugins.cohorts.lms.platform import IDENTIFIERS, Change, Platform, Present, Task, has_same_points

_MAX_SILENT: Final = 3
"""Students in a row for whom no answer came, after which the platform is taken to be down."""


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
_SEND_POINTS: Final = frozenset({Action.SET, Action.RAISE, Action.LOWER})


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
        if self.action not in CHANGES and self.feedback is None:
            return None
        points = self.ours if self.action in _SEND_POINTS else None
        return Change(points, self.action is Action.EXCUSE, self.feedback, self.why)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user allows."""

    lower: bool = False
    """Send grades that are lower than those on the platform, and excuse students who have a grade there."""
    rescale: bool = False
    excuses: bool = True
    """Whether the platform knows excused students."""


def plan_push(
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
    by_kind = []
    for kind, keys in IDENTIFIERS.items():
        called = [normalize_identifier(present.account.identifiers.get(kind, "")) for present in presents]
        by_kind.append((keys, index_positions(enumerate(called))))
    positions = [find_position(grade.student, by_kind) for grade in grades]
    rows = []
    for grade, position in zip(grades, positions, strict=True):
        if position is None:
            has_grade = grade.points is not None or grade.state == "excused"
            rows.append(Row(grade.student, Action.NOT_ENROLLED if has_grade else _describe_missing(grade)))
        elif positions.count(position) > 1:
            rows.append(Row(grade.student, Action.SHARED))
        else:
            rows.append(_plan_row(grade, presents[position], task, rules, feedback.get(grade.student.id)))
    return rows


def _plan_row(grade: ReturnedGrade, present: Present, task: Task, rules: Rules, page: FeedbackFile | None) -> Row:
    ours = scale_points(grade, task.maximum, f"`{task.title}` on the platform", rescale=rules.rescale)
    action = _choose_action(grade, ours, present, rules)
    takes_page = ours is not None and action in (*_SEND_POINTS, Action.SAME)
    if page is not None and (not takes_page or page.is_among(present.files or ())):
        page = None
    return Row(grade.student, action, ours, present, page, grade.why)


def _choose_action(grade: ReturnedGrade, ours: Fraction | None, present: Present, rules: Rules) -> Action:
    if grade.state == "excused":
        return _choose_excuse(present, rules)
    if ours is None:
        return _describe_missing(grade)
    if not present.is_assigned:
        return Action.NOT_ASSIGNED
    if present.excused:
        return Action.EXCUSED_THERE
    if present.grade is None:
        return Action.SET
    if has_same_points(ours, present.grade):
        return Action.SAME
    if ours > present.grade:
        return Action.RAISE
    return Action.LOWER if rules.lower else Action.HIGHER_THERE


def _choose_excuse(present: Present, rules: Rules) -> Action:
    if not rules.excuses:
        return Action.NO_GRADE
    if present.excused:
        return Action.SAME
    if not present.is_assigned:
        return Action.NOT_ASSIGNED
    return Action.EXCUSE if present.grade is None or rules.lower else Action.GRADED_THERE


def _describe_missing(grade: ReturnedGrade) -> Action:
    return Action.NOT_COMPLETE if grade.state == "open" else Action.NO_GRADE


def send_all(platform: Platform, rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Send the changes of a plan, and yield each row with why nothing was sent; empty if it was.

    An error of one student does not stop the others.

    Raises:
        NotAllowedError: the platform does not accept the token.
        UnreachableError: no answer came for several students in a row.
    """
    silent = 0
    for row in rows:
        if row.change is None or row.present is None:
            continue
        problem = ""
        try:
            _send(platform, row.change, row.present)
            silent = 0
        except NotAllowedError:
            raise
        except UsageError as error:
            silent = silent + 1 if isinstance(error, UnreachableError) else 0
            if silent == _MAX_SILENT:
                raise
            problem = str(error)
        yield row, problem


def _send(platform: Platform, change: Change, planned: Present) -> None:
    """Send one change, if the platform still has what the plan was made from."""
    now = platform.read_present(planned.account)
    if not has_same_points(now.grade, planned.grade) or now.excused != planned.excused:
        raise LmsError("The grade changed since the plan was made; run the command again.")
    if change.feedback is not None and change.feedback.is_among(now.files or ()):
        change = replace(change, feedback=None, comment="")
    if change.points is not None or change.excuse or change.feedback is not None:
        platform.send(change, now)
