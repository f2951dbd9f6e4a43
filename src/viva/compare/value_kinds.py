"""How a value of each type that an answer can have is compared, shown in messages, and recorded.

The types are those of `VALUE_TYPES` (sandbox/guest/transport/value_types.py), which holds their form on the wire.
"""

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

AS_NUMBER, AS_TEXT, AS_EQUAL = "number", "text", "equal"
"""How a value is compared: with tolerance, as a text, or by `==` with a value of the same type."""
_DIGITS: Final = 6
_WHOLE: Final = 1e12
_LONG_BITS: Final = 200
_DECIMAL_DIGITS: Final = 1_000
"""Digits and exponents up to which a decimal is compared exactly."""


def _as_shown(value: object, shown: str) -> str:
    return shown


def _the(noun: str) -> Callable[[object, str], str]:
    return lambda value, shown: f"the {noun} {shown}"


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What the examiner does with the values of one type."""

    compared: str = AS_EQUAL
    """AS_NUMBER, AS_TEXT or AS_EQUAL."""
    show: Callable[[Any, int], str] | None = None
    """Writes a value for a message, in about that many characters; without it, the name of the class is shown."""
    describe: Callable[[Any, str], str] = _as_shown
    """Says in a message what kind of thing a value is, given the value and how it is shown."""
    normal: Callable[[Any], Any] | None = None
    """Makes the value of another type that is compared in its place."""
    is_recorded: bool = True
    """Whether a key's answer of the type can be recorded."""


def number(value: float) -> str:
    """Write a number for a message: six significant digits, whole numbers in full, no trailing zeros."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < _WHOLE else f"{value:.{_DIGITS}g}"


def whole_number(value: int) -> str:
    """Write an integer for a message; of a very long one, how many digits it has."""
    # str() of a huge int is slow, and refused beyond 4,300 digits.
    if value.bit_length() > _LONG_BITS:
        sign = "a negative" if value < 0 else "a"
        return f"{sign} whole number of about {int(value.bit_length() * math.log10(2)) + 1:,} digits"
    return str(value)


def kind_of(value: object) -> ValueKind | None:
    """Return the row of the value's type, or of the first of its bases that has one."""
    return next((VALUE_KINDS[base] for base in type(value).__mro__ if base in VALUE_KINDS), None)


def _quoted(value: str | bytes, cap: int) -> str:
    return repr(value[:cap]) + ("…" if len(value) > cap else "")


def _complex_shown(value: complex, cap: int) -> str:
    return f"{number(float(value.real))}{'-' if value.imag < 0 else '+'}{number(abs(float(value.imag)))}j"


def _fraction_shown(value: Fraction, cap: int) -> str:
    below = f"/{whole_number(value.denominator)}" if value.denominator != 1 else ""
    return whole_number(value.numerator) + below


def _decimal_normal(value: Decimal) -> float | Fraction:
    # Decimal("1e999999") has a short text and a denominator or numerator of a million digits.
    if value.is_nan():
        return math.nan
    if not value.is_finite() or abs(value.adjusted()) > _DECIMAL_DIGITS:
        return float(value)
    return Fraction(value) if len(value.as_tuple().digits) <= _DECIMAL_DIGITS else float(value)


def _datetime_shown(value: datetime.datetime, cap: int) -> str:
    text = value.isoformat(" ")
    return text[:10] if text[10:] == " 00:00:00" else text


VALUE_KINDS: Final[dict[type, ValueKind]] = {
    type(None): ValueKind(show=lambda value, cap: "None"),
    bool: ValueKind(AS_NUMBER, show=lambda value, cap: str(bool(value))),
    int: ValueKind(AS_NUMBER, show=lambda value, cap: whole_number(int(value)), describe=_the("number")),
    float: ValueKind(AS_NUMBER, show=lambda value, cap: number(float(value)), describe=_the("number")),
    complex: ValueKind(AS_NUMBER, show=_complex_shown, describe=_the("number")),
    str: ValueKind(AS_TEXT, show=_quoted, describe=_the("text")),
    bytes: ValueKind(
        AS_TEXT, show=_quoted, describe=lambda value, shown: f"{len(value)} byte{'' if len(value) == 1 else 's'}"
    ),
    Fraction: ValueKind(AS_NUMBER, show=_fraction_shown, describe=_the("number")),
    Decimal: ValueKind(AS_NUMBER, normal=_decimal_normal, is_recorded=False),
    datetime.datetime: ValueKind(show=_datetime_shown),
    datetime.date: ValueKind(
        show=lambda value, cap: value.isoformat(),
        normal=lambda value: datetime.datetime(value.year, value.month, value.day),
    ),
    datetime.timedelta: ValueKind(show=lambda value, cap: str(value)),
}
