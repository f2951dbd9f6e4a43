"""`policy:` of assignment.yaml and exceptions.yaml as typed values; errors say file, line, key, what is allowed."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import PlainValidator, WithJsonSchema

from viva.config.policy import (
    Adjustment,
    Amount,
    Decision,
    Exceptions,
    Extension,
    Policy,
    PolicyFile,
    Step,
)
from viva.config.read_config import CourseDocument, read_document, values_of
from viva.config.yaml_types import (
    STRICT,
    Expect,
    FilledTuple,
    Moment,
    Text,
    fraction_schema,
    read_fraction,
)


def _read_students(value: object) -> tuple[str, ...]:
    """Return one student's id, or a list of them; an id may look like a number."""
    given: list[Any] = value if isinstance(value, list) else [value]
    ids = tuple(str(each) if type(each) is int else each for each in given)
    if not ids or not all(isinstance(each, str) and each.strip() for each in ids):
        raise ValueError(
            "a student's id, or a list of them, as the class list has them (in quotes where one has a sign)"
        )
    return ids


def _read_change(value: object) -> Fraction:
    """Return points that are given or taken; not none."""
    points = read_fraction(value)
    if points == 0:
        raise ValueError("not zero")
    return points


def _read_true(value: object) -> bool:
    if value is not True:
        raise ValueError("true")
    return True


_ID: Final = {"type": ["string", "integer"], "pattern": r"\S"}
_STUDENTS_SCHEMA: Final = {"anyOf": [_ID, {"type": "array", "items": _ID, "minItems": 1}]}
_CHANGE: Final = "points that are given, such as 2 or 0.5, or taken, such as -5"


@dataclass(frozen=True, slots=True)
class ExceptionRow:
    """One decision about one or more students: exactly one of `due`, `excused` and `points`."""

    students: Annotated[tuple[str, ...], PlainValidator(_read_students), WithJsonSchema(_STUDENTS_SCHEMA)]
    """A student's id, or a list of them, as the roster has them."""
    by: Text
    """Who decided."""
    reason: Text
    """Why they decided so."""
    due: Moment | None = None
    """An extension: these students' deadline, with its time zone."""
    excused: Annotated[bool, PlainValidator(_read_true), WithJsonSchema({"const": True})] | None = None
    """true excuses these students from the assignment."""
    points: (
        Annotated[
            Fraction, PlainValidator(_read_change), fraction_schema("[+-]?", **{"not": {"const": 0}}), Expect(_CHANGE)
        ]
        | None
    ) = None
    """Points that are given in addition to those of the tests, or taken if negative."""


@dataclass(frozen=True, slots=True)
class ExceptionsFile:
    """exceptions.yaml: extensions, excuses and points that people have decided on."""

    __pydantic_config__ = STRICT

    exceptions: FilledTuple[ExceptionRow]
    """The decisions, in any order."""


def policy_of(document: CourseDocument, written: PolicyFile, due: datetime | None, maximum: Fraction | None) -> Policy:
    """Return the policy that an assignment.yaml declares.

    Args:
        document: the file.
        written: what it says under `policy`.
        due: the assignment's deadline.
        maximum: the assignment's points.

    Raises:
        CourseError: steps are not in order, or something depends on a deadline that there is not.
    """
    for key in ("grace", "late", "closes"):
        if due is None and key in document.document.value["policy"]:
            raise document.error(("policy", key), "nothing is late without a deadline; write `due:` as well.")
    if isinstance(written.closes, datetime) and due is not None and written.closes.timestamp() < due.timestamp():
        raise document.error(("policy", "closes"), "this is before the deadline; expected a later moment.")
    if isinstance(written.late, tuple):
        _check_steps(document, written.late)
    return Policy(due=due, maximum=maximum, **values_of(written))


def read_exceptions(path: Path) -> Exceptions:
    """Read exceptions.yaml; an assignment without the file has none.

    Raises:
        CourseError: the file is wrong, or says two things about one student.
    """
    if not path.exists():
        return Exceptions()
    document = read_document(path)
    extensions: dict[str, Extension] = {}
    excused: dict[str, Decision] = {}
    adjustments: dict[str, tuple[Adjustment, ...]] = {}
    for index, row in enumerate(document.read(ExceptionsFile).exceptions):
        at = ("exceptions", index)
        decision = Decision(row.by, row.reason)
        if [row.due, row.excused, row.points].count(None) != 2:
            raise document.error(at, "expected exactly one of `due` (an extension), `excused: true` and `points`.")
        for student in row.students:
            if student in (extensions if row.due else excused if row.excused else ()):
                raise document.error(at, f"`{student}` has such an exception already; keep one of the two.")
            if row.due:
                extensions[student] = Extension(row.due, decision)
            elif row.excused:
                excused[student] = decision
            elif row.points:
                adjustments[student] = (*adjustments.get(student, ()), Adjustment(row.points, decision))
    return Exceptions(extensions, excused, adjustments)


def _check_steps(document: CourseDocument, steps: tuple[Step, ...]) -> None:
    for index, (one, two) in enumerate(pairwise(steps), 1):
        at = ("policy", "late", index)
        if one.until is None or (two.until is not None and two.until.nominal_s <= one.until.nominal_s):
            raise document.error(at, "expected steps in the order of time; only the last may lack `until`.")
        if not _grows(one.minus, two.minus):
            raise document.error(at, "expected no smaller penalty than in the step before, and of the same kind.")


def _grows(one: Amount, two: Amount) -> bool:
    """Return whether the second takes no less than the first, whatever was earned."""
    kinds = {(bool(each.share), each.of_maximum) for each in (one, two) if each != Amount()}
    return len(kinds) <= 1 and one.share <= two.share and one.points <= two.points
