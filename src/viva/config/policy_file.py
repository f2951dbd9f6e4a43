"""`policy:` of assignment.yaml and exceptions.yaml as typed values; errors say file, line, key, what is allowed."""

import re
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from viva.config.checks import Expected, Key, Table, mapping, moment, one_of, optional, rows, text, whole
from viva.config.policy import (
    Adjustment,
    Amount,
    Attempts,
    Decision,
    Exceptions,
    Extension,
    Policy,
    Rate,
    Rounding,
    Span,
    Step,
)
from viva.config.read_config import CourseDocument, read_document

_SPAN: Final = re.compile(r"([0-9]{1,6})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
_AMOUNT: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%( of (?:the )?maximum)?")
_LONGEST_S: Final = 10 * 365 * 86_400
_FINEST: Final = 10_000


def duration(value: Any) -> Span:
    """A time span with its unit, at most ten years."""
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if found:
        number, unit = int(found[1]), found[2]
        span = Span(number, 0, value) if unit == "d" else Span(0, number * _SECONDS[unit], value)
        if 0 < _nominal_s(span) <= _LONGEST_S:
            return span
    raise Expected("a time with its unit, such as 90m, 24h or 2d (days end at the same time of the clock)")


def amount(value: Any) -> Amount:
    """A share of what was earned (`10%`), of the maximum (`10% of maximum`), or points (`5`)."""
    if isinstance(value, str) and (found := _AMOUNT.fullmatch(value)) and Fraction(found[1]) <= 100:
        return Amount(share=Fraction(found[1]) / 100, of_maximum=found[2] is not None)
    if type(value) in (int, float) and 0 <= value <= 1_000_000:
        return Amount(points=Fraction(str(value)))
    raise Expected("10% (of what was earned), 10% of maximum, or a number of points, such as 5")


def closing(value: Any) -> datetime | Span:
    """A moment, or a time after each student's own deadline."""
    try:
        return duration(value)
    except Expected:
        pass
    try:
        return moment(value)
    except Expected as error:
        raise Expected(f"a time after the deadline, such as 7d, or {error}") from None


def finest(value: Any) -> Fraction:
    """What marks are rounded to: a decimal with at most four places."""
    if type(value) in (int, float) and 0 < value <= 1000:
        exact = Fraction(str(value))
        if (exact * _FINEST).denominator == 1:
            return exact
    raise Expected("a number such as 0.01, 0.5 or 1, with at most four decimals")


def change(value: Any) -> Fraction:
    """Points given or taken."""
    if type(value) in (int, float, str):
        try:
            exact = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            exact = Fraction(0)
        if exact:
            return exact
    raise Expected("points that are given, such as 2 or 0.5, or taken, such as -5")


def people(value: Any) -> tuple[str, ...]:
    """One student's id, or a list of them; an id may look like a number."""
    given = value if isinstance(value, list) else [value]
    ids = tuple(str(each) if type(each) is int else each for each in given)
    if not ids or not all(isinstance(each, str) and each.strip() for each in ids):
        raise Expected("a student's id, or a list of them, as the class list has them (in quotes where one has a sign)")
    return ids


def only_true(value: Any) -> bool:
    """`excused: true` is all that can be said."""
    if value is not True:
        raise Expected("true")
    return True


def late(value: Any) -> Any:
    """A list of steps or a rate; what they hold is checked by a table of its own."""
    if isinstance(value, dict) or (isinstance(value, list) and value):
        return value
    raise Expected("steps, such as [{until: 24h, minus: 10%}], or a rate, such as {per: 1d, minus: 10%, floor: 50%}")


POLICY: Final[Table] = {
    "grace": Key(duration, Span()),
    "late": Key(late, ()),
    "closes": Key(optional(closing), None),
    "attempts": {"count": Key(optional(whole(1, 10_000)), None), "which": Key(one_of("last", "best"), "last")},
    "nothing": Key(one_of("blank", "zero"), "blank"),
    "extra_credit": Key(one_of("keep", "cap"), "keep"),
    "rounding": {"to": Key(finest, Fraction(1, 100)), "half": Key(one_of("even", "up"), "even")},
}
STEP: Final[Table] = {"until": Key(optional(duration), None), "minus": Key(amount)}
RATE: Final[Table] = {"per": Key(duration), "minus": Key(amount), "floor": Key(amount, Amount())}
EXCEPTIONS: Final[Table] = {"exceptions": Key(rows)}
EXCEPTION: Final[Table] = {
    "students": Key(people),
    "due": Key(optional(moment), None),
    "excused": Key(optional(only_true), None),
    "points": Key(optional(change), None),
    "by": Key(text),
    "reason": Key(text),
}


def read_policy(document: CourseDocument, due: datetime | None, maximum: Fraction | None) -> Policy:
    """The policy that an assignment.yaml declares.

    Args:
        document: the file, which has the key `policy`.
        due, maximum: what it says beside it.

    Raises:
        CourseError: a key or a value is wrong, or lateness is spoken of where there is no deadline.
    """
    at = ("policy",)
    written = document.table(POLICY, at)
    told = document.document.value["policy"]
    for key in ("grace", "late", "closes"):
        if due is None and key in mapping(told):
            raise document.error((*at, key), "nothing is late without a deadline; write `due:` as well.")
    if isinstance(written["closes"], datetime) and due is not None and _instant(written["closes"]) < _instant(due):
        raise document.error((*at, "closes"), "this is before the deadline; expected a later moment.")
    return Policy(
        due=due,
        maximum=maximum,
        grace=written["grace"],
        late=_late(document, written["late"]),
        closes=written["closes"],
        attempts=Attempts(**written["attempts"]),
        nothing=written["nothing"],
        extra_credit=written["extra_credit"],
        rounding=Rounding(**written["rounding"]),
    )


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
    for index in range(len(document.table(EXCEPTIONS)["exceptions"])):
        at = ("exceptions", index)
        row = document.table(EXCEPTION, at)
        decision = Decision(row["by"], row["reason"])
        if sum(row[kind] is not None for kind in ("due", "excused", "points")) != 1:
            raise document.error(at, "expected exactly one of `due` (an extension), `excused: true` and `points`.")
        for student in row["students"]:
            if student in (extensions if row["due"] else excused if row["excused"] else ()):
                raise document.error(at, f"`{student}` has such an exception already; keep one of the two.")
            if row["due"]:
                extensions[student] = Extension(row["due"], decision)
            elif row["excused"]:
                excused[student] = decision
            else:
                adjustments[student] = (*adjustments.get(student, ()), Adjustment(row["points"], decision))
    return Exceptions(extensions, excused, adjustments)


def _late(document: CourseDocument, written: Any) -> tuple[Step, ...] | Rate:
    at = ("policy", "late")
    if isinstance(written, dict):
        return Rate(**document.table(RATE, at))
    steps = tuple(Step(**document.table(STEP, (*at, index))) for index in range(len(written)))
    for index, (one, two) in enumerate(pairwise(steps), 1):
        if one.until is None or (two.until is not None and _nominal_s(two.until) <= _nominal_s(one.until)):
            raise document.error((*at, index), "expected steps in the order of time; only the last may lack `until`.")
        if not _grows(one.minus, two.minus):
            raise document.error(
                (*at, index), "expected no smaller penalty than in the step before, and of the same kind."
            )
    return steps


def _grows(one: Amount, two: Amount) -> bool:
    """Whether the second takes no less than the first, whatever was earned."""
    kinds = {(bool(each.share), each.of_maximum) for each in (one, two) if each != Amount()}
    return len(kinds) <= 1 and one.share <= two.share and one.points <= two.points


def _nominal_s(span: Span) -> int:
    return span.days * 86_400 + span.seconds


def _instant(moment: datetime) -> float:
    return moment.timestamp()
