"""What a key of a course file may hold: small checks that turn a value into what is meant, or say what is expected.

A table of keys is the whole schema. (Plain functions and not a model library: the course is read at the start of every
command and of every examiner, and importing one would cost more time than grading a submission.)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from re import compile as pattern
from typing import Any, Final

from viva.model import Tier

Check = Callable[[Any], Any]


class Expected(Exception):
    """A value is not allowed; the text is a phrase for what is. `index` tells which element of a list it was."""

    def __init__(self, what: str, index: int | None = None) -> None:
        super().__init__(what)
        self.index = index


class Required:
    """Stands for the default of a key that must be written."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is checked, and what it is where it is not written."""

    check: Check
    default: Any = Required


Table = Mapping[str, "Key | Table"]

_NAME: Final = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_MODULE: Final = pattern(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_SECRET: Final = pattern(r"(env|file):.+")
_SPAN: Final = pattern(r"([0-9]{1,9})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def text(value: Any) -> str:
    """A text that is not empty; a number is no text here, because YAML would lose how it was written."""
    if not isinstance(value, str) or not value.strip():
        raise Expected("a text")
    return value


def optional(check: Check) -> Check:
    """What `check` allows, or nothing (`null`)."""
    return lambda value: None if value is None else check(value)


def truth(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Expected("true or false")
    return value


def whole(least: int, most: int) -> Check:
    """A whole number in a range, ends included."""

    def check(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise Expected(f"a whole number from {least:,} to {most:,}")
        return value

    return check


def seconds(value: Any) -> float:
    """A time span, at most a day."""
    if type(value) not in (int, float) or not 0 < value <= 86_400:
        raise Expected("a number of seconds, more than 0 and at most 86,400")
    return float(value)


def span(least_s: int, most_s: int, example: str) -> Check:
    """A time span with its unit, in seconds."""

    def check(value: Any) -> float:
        found = _SPAN.fullmatch(value) if isinstance(value, str) else None
        given_s = int(found[1]) * _SECONDS[found[2]] if found else -1
        if not least_s <= given_s <= most_s:
            raise Expected(f"a time from {shown(least_s)} to {shown(most_s)}, such as {example}")
        return float(given_s)

    def shown(given_s: int) -> str:
        unit = next(unit for unit in "dhms" if given_s % _SECONDS[unit] == 0)
        return f"{given_s // _SECONDS[unit]}{unit}"

    return check


def points(value: Any) -> Fraction:
    """Points mean what is written: 0.1 is one tenth, and 100/3 can be said."""
    exact = _exact(value)
    if exact is None or exact < 0:
        raise Expected("a number of points, zero or more, such as 100, 12.5 or 100/3")
    return exact


def signed_points(value: Any) -> Fraction:
    """Points that may be taken off as well."""
    exact = _exact(value)
    if exact is None:
        raise Expected("a number of points, such as 2, 1/2 or -1")
    return exact


def deduction(value: Any) -> Fraction:
    """The most that may be taken off, as it is added: zero or less."""
    exact = _exact(value)
    if exact is None or exact > 0:
        raise Expected("a number of points, zero or less, such as -1 or -1/2")
    return exact


def _exact(value: Any) -> Fraction | None:
    if type(value) not in (int, float, str):
        return None
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def moment(value: Any) -> datetime:
    """A time with its zone: a deadline without one would move with the machine that reads it."""
    expected = (
        "a date and time with a time zone, such as 2026-12-01T23:59:00Z, 2026-12-01T23:59:00+01:00 "
        "or 2026-12-01 23:59 Europe/Vienna"
    )
    local, _, zone = value.rpartition(" ") if isinstance(value, str) else ("", "", "")
    named = zone[:1].isalpha()
    try:
        when = datetime.fromisoformat(local if named else value)
    except (TypeError, ValueError):
        raise Expected(expected) from None
    if (when.tzinfo is None) is not named:
        raise Expected(expected)
    return _in_zone(when, zone) if named else when


def _in_zone(when: datetime, zone: str) -> datetime:
    """The moment at which the clocks of a zone show this; the later one where they show it twice."""
    from zoneinfo import ZoneInfo

    try:
        there = when.replace(tzinfo=ZoneInfo(zone), fold=1)
    except (KeyError, ValueError, OSError):
        raise Expected("the name of a time zone behind the time, such as Europe/Vienna or UTC") from None
    try:
        shown = there.astimezone(UTC).astimezone(there.tzinfo).replace(tzinfo=None)
    except OverflowError:
        raise Expected("a year in which this course may take place") from None
    if shown != when:
        raise Expected(f"a time that the clocks of {zone} show: they skip this one")
    return there


def tier(value: Any) -> Tier:
    """The name of an isolation tier."""
    return Tier[one_of(*(str(each) for each in Tier))(value)]


def one_of(*allowed: str) -> Check:
    """One of a few words."""

    def check(value: Any) -> str:
        if value not in allowed:
            raise Expected(" or ".join(allowed) if len(allowed) == 2 else f"one of {', '.join(allowed)}")
        return str(value)

    return check


def kernel(value: Any) -> str | None:
    """Whether notebooks are run by a stock kernel, and which: `true` is the one for Python."""
    if isinstance(value, bool):
        return "python" if value else None
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Expected("true, false, or the name of an installed kernel such as ir")
    return value


def workers(value: Any) -> int:
    """`auto` is 0: one for each core."""
    if value == "auto":
        return 0
    if type(value) is not int or not 1 <= value <= 1024:
        raise Expected("auto, or a number of processes from 1 to 1,024")
    return value


def name(value: Any) -> str:
    """The name of an assignment, which is the name of its folders."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Expected("a folder's name of letters, digits, `_`, `-` and `.`")
    return value


def item_id(value: Any) -> str:
    """What an item of a rubric is called in what a marker records."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Expected("an id of letters, digits, `_`, `-` and `.`, such as symmetric")
    return value


def module(value: Any) -> str:
    """The dotted name of a module, or of something in one."""
    if not isinstance(value, str) or not _MODULE.fullmatch(value):
        raise Expected("a module's name, such as numpy or torch.nn")
    return value


def preloaded(value: Any) -> str:
    """The dotted name of a module; a question mark behind it says that it may be missing."""
    if not isinstance(value, str) or not _MODULE.fullmatch(value.removesuffix("?")):
        raise Expected("a module's name, such as numpy, or torch? if it need not be installed")
    return value


def secret(value: Any) -> str:
    """Where the course's secret comes from."""
    if not isinstance(value, str) or not _SECRET.fullmatch(value):
        raise Expected("env:NAME (an environment variable) or file:PATH")
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Keys with values; what they hold is checked by another table."""
    if not isinstance(value, dict):
        raise Expected("keys with values, such as {key: value}")
    return value


def rows(value: Any) -> list[Any]:
    """A list with at least one element; what they hold is checked by another table."""
    if not isinstance(value, list) or not value:
        raise Expected("a list with at least one element")
    return value


def each(check: Check) -> Check:
    """A list whose elements all pass `check`, none of them twice."""

    def check_all(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list):
            raise Expected("a list, such as [a, b]")
        checked: list[Any] = []
        for index, value in enumerate(values):
            try:
                checked.append(check(value))
            except Expected as error:
                raise Expected(str(error), index) from None
            if checked.index(checked[-1]) < index:
                raise Expected("each element once", index)
        return tuple(checked)

    return check_all
