"""The types that an answer can have, and their form on the wire.

To add a type, add its row to `VALUE_TYPES`, and one to `VALUE_KINDS` of the examiner (compare/value_kinds.py).
Then add two values to `SAMPLES` in `tests/sandbox/guest/test_value_types.py`, which checks all that a row promises.

A type that arrives as another one, as a deque does as a list, gets a row in `STAND_INS` instead; one of another library
a row in library_types.py.

The bytes on the wire are hostile. They can name a tag of this table and nothing else, so that no class of the sender's
choice is ever made, and `made` has to refuse what passes a cap before it makes anything of that size.
"""

from __future__ import annotations

import array
import collections
import datetime
import re
import types
from decimal import Decimal
from fractions import Fraction
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, TypeVar, Union

from .wire_values import CAPS, Caps, TooLarge, WireError, listed, too_large

T = TypeVar("T")
CONTAINERS = frozenset({list, tuple, dict, set, frozenset})
"""What holds other values; their items are written, read, compared and shown one by one."""
KEEP: object = object()
"""Returned by `exact` for a value that holds no value of the type: the object stays in the box."""
_LONGEST_RANGE = 100_000
_LONGEST_DATE = 40


def _itself(value: T) -> T:
    return value


class ValueType(NamedTuple):
    """One type, and what viva does with its values."""

    kind: type
    exact: Callable[[Any], Any]
    """Makes a value of the type, or of a subclass, one of exactly this type. It asks the type's own methods, because
    those of a subclass may lie; it returns KEEP where there is no value.
    """
    tag: str = ""
    """The name of the type on the wire; empty where msgpack itself has the type."""
    parts: Optional[Callable[[Any], Any]] = None
    """Makes what crosses under the tag: bytes, a text, or a list of floats, of texts or of what `sent_int` makes of an
    integer. Raises TooLarge.
    """
    made: Optional[Callable[[Any, Caps], Any]] = None
    """Makes the value from what has crossed. Raises WireError, or whatever else a constructor raises."""


class StandIn(NamedTuple):
    """A type whose values arrive as values of another type."""

    kind: type
    plain: Callable[[Any], Any]
    """Reads a value of the type, or of a subclass, by the type's own methods; returns KEEP where it is too long."""


def type_of(value: object) -> Optional[ValueType]:
    """Return the row of the value's type, or of the first of its bases that has one."""
    return next((TYPE_OF[base] for base in type(value).__mro__ if base in TYPE_OF), None)


def sent_int(value: int) -> Union[int, Dict[str, bytes]]:
    """Return what msgpack writes for an integer: itself, or its bytes under a tag if it has more than 64 bits."""
    return value if -(1 << 63) <= value < 1 << 64 else {"i": _int_parts(value)}


def _int_parts(value: int) -> bytes:
    bits = value.bit_length()
    if bits > CAPS.int_bits:
        raise TooLarge(too_large(f"an integer of {bits:,} bits", f"{CAPS.int_bits:,} bits"))
    return value.to_bytes(bits // 8 + 1, "little", signed=True)


def _int_made(content: object, caps: Caps) -> int:
    if type(content) is not bytes or len(content) > caps.int_bits // 8 + 1:
        raise WireError("an integer of no valid form")
    return int.from_bytes(content, "little", signed=True)


def _fraction_exact(value: object) -> object:
    """From the slots: `numerator` and `denominator` are properties, which a subclass may replace."""
    parts = [Fraction.__dict__[slot].__get__(value) for slot in ("_numerator", "_denominator")]
    if any(type(part) is not int for part in parts) or parts[1] == 0:
        return KEEP
    return Fraction(*parts)


def _fraction_parts(value: Fraction) -> List[Union[int, Dict[str, bytes]]]:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > CAPS.fraction_bits:
        raise TooLarge(too_large("a fraction of very large integers", f"{CAPS.fraction_bits:,} bits"))
    return [sent_int(value.numerator), sent_int(value.denominator)]


def _fraction_made(content: object, caps: Caps) -> Fraction:
    numerator, denominator = listed(content, int, int)
    if max(numerator.bit_length(), denominator.bit_length()) > caps.fraction_bits:
        raise WireError("a fraction of very large integers")
    return Fraction(numerator, denominator)


def _decimal_parts(value: Decimal) -> str:
    text = str(value)
    if len(text) > CAPS.decimal_digits:
        raise TooLarge(too_large(f"a decimal of {len(text):,} digits", f"{CAPS.decimal_digits:,} digits"))
    if abs(value.adjusted()) > CAPS.decimal_exponent:
        raise TooLarge(too_large("a decimal of a very large exponent", f"exponents of {CAPS.decimal_exponent:,}"))
    return text


def _decimal_made(content: object, caps: Caps) -> Decimal:
    if type(content) is not str or len(content) > caps.decimal_digits:
        raise WireError("a decimal of no valid form")
    made = Decimal(content)
    if abs(made.adjusted()) > caps.decimal_exponent:
        raise WireError("a decimal of a very large exponent")
    return made


def _fields_of(kind: type, value: object, *names: str) -> List[int]:
    """Ask the descriptors of the class itself, which a subclass cannot replace."""
    return [kind.__dict__[name].__get__(value) for name in names]


def _date_exact(value: object) -> datetime.date:
    return datetime.date(*_fields_of(datetime.date, value, "year", "month", "day"))


def _datetime_exact(value: object) -> object:
    if type(value).__name__ == "NaTType":  # of pandas: a missing date
        return None
    day = _fields_of(datetime.date, value, "year", "month", "day")
    hour, minute, second, part = _fields_of(datetime.datetime, value, "hour", "minute", "second", "microsecond")
    zone = datetime.datetime.__dict__["tzinfo"].__get__(value)
    made = datetime.datetime(day[0], day[1], day[2], hour, minute, second, part)
    return made if zone is None else made.replace(tzinfo=datetime.timezone(zone.utcoffset(made)))


def _duration_parts(value: object) -> List[int]:
    return _fields_of(datetime.timedelta, value, "days", "seconds", "microseconds")


def _from_iso(kind: Any) -> Callable[[object, Caps], Any]:
    def made(content: object, caps: Caps) -> Any:
        if type(content) is not str or len(content) > _LONGEST_DATE:
            raise WireError("a date of no valid form")
        return kind.fromisoformat(content)

    return made


# A unary plus of the base class, and str.__str__, give an object of exactly that class.
VALUE_TYPES: Tuple[ValueType, ...] = (
    ValueType(type(None), exact=_itself),
    ValueType(bool, exact=_itself),
    ValueType(int, exact=int.__pos__, tag="i", parts=_int_parts, made=_int_made),  # the tag is for more than 64 bits
    ValueType(float, exact=float.__pos__),
    ValueType(
        complex,
        exact=complex.__pos__,
        tag="c",
        parts=lambda value: [value.real, value.imag],
        made=lambda content, caps: complex(*listed(content, float, float)),
    ),
    ValueType(str, exact=str.__str__),
    ValueType(bytes, exact=lambda value: bytes(memoryview(value))),
    ValueType(Fraction, exact=_fraction_exact, tag="q", parts=_fraction_parts, made=_fraction_made),
    ValueType(
        Decimal,
        exact=lambda value: Decimal(Decimal.__str__(value)),
        tag="p",
        parts=_decimal_parts,
        made=_decimal_made,
    ),
    ValueType(
        datetime.datetime,  # before its base, the date
        exact=_datetime_exact,
        tag="D",
        parts=datetime.datetime.isoformat,
        made=_from_iso(datetime.datetime),
    ),
    ValueType(
        datetime.date,
        exact=_date_exact,
        tag="y",
        parts=datetime.date.isoformat,
        made=_from_iso(datetime.date),
    ),
    ValueType(
        datetime.timedelta,
        exact=lambda value: datetime.timedelta(*_duration_parts(value)),
        tag="e",
        parts=_duration_parts,
        made=lambda content, caps: datetime.timedelta(*listed(content, int, int, int)),
    ),
)
STAND_INS: Tuple[StandIn, ...] = (
    StandIn(bytearray, plain=lambda value: bytes(memoryview(value))),
    StandIn(memoryview, plain=lambda value: value.tobytes() if value.format == "B" else value.tolist()),
    StandIn(collections.Counter, plain=lambda value: dict(dict.items(value))),
    StandIn(range, plain=lambda value: list(value) if len(value) <= _LONGEST_RANGE else KEEP),
    StandIn(collections.deque, plain=lambda value: list(collections.deque.__iter__(value))),
    StandIn(array.array, plain=lambda value: array.array.tolist(value)),
    StandIn(types.SimpleNamespace, plain=lambda value: dict(object.__getattribute__(value, "__dict__"))),
    StandIn(collections.UserString, plain=lambda value: value.data),
    StandIn(re.Pattern, plain=lambda value: value.pattern),
)
TYPE_OF: Dict[type, ValueType] = {row.kind: row for row in VALUE_TYPES}
