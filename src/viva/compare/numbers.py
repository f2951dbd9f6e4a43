"""Compares one number with another."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.kinds import of_another_kind
from viva.compare.normalize import is_number, one_number
from viva.compare.show import number, show_two, tolerance_note
from viva.compare.tolerances import tolerance_for

NAN_ADVICE = "look for 0/0, the logarithm of a negative number, or inf - inf"


def compare_numbers(actual: object, expected: object, context: Context) -> Difference | None:
    """Return the difference, or None if the numbers agree.

    A bool counts as 0 or 1, a one-element array as its number.
    """
    actual = one_number(actual)
    if not is_number(actual):
        return of_another_kind(actual, expected)
    if context.sign and _differ(_negative(actual), expected, context) is None:
        return None
    return _differ(actual, expected, context)


def _differ(actual: object, expected: object, context: Context) -> Difference | None:
    try:
        if bool(actual == expected):
            return None
    except OverflowError:
        pass
    seen, wanted = show_two(actual, expected)
    if isinstance(expected, bool):
        return Difference(f"is {seen}; expected {wanted}.", "", actual, expected)
    if _is_exact(actual) and _is_exact(expected) and _is_whole(expected) and context.rtol is context.atol is None:
        return Difference(f"is {seen}; expected {wanted}.", "", actual, expected)
    one, other = _inexact(actual), _inexact(expected)
    if other != other and one != one:
        return None
    if one != one:
        text = f"is NaN (not a number); expected {wanted}: {NAN_ADVICE}."
        return Difference(text, "", actual, expected)
    tolerance = tolerance_for(
        actual, expected, rtol=context.rtol, atol=context.atol, whole=_is_exact(expected) and _is_whole(expected)
    )
    allowed = tolerance.allowed(abs(other), abs(other))
    distance = _distance(one, other)
    if (distance <= allowed and math.isfinite(abs(other))) or _rounds_to(actual, expected):
        return None
    both_whole = _is_whole(expected) and isinstance(one, float) and one.is_integer()
    note = tolerance_note(distance, allowed) if not both_whole else ""
    size = f" (off by {number(distance)}; {note})" if note else ""
    return Difference(f"is {seen}; expected {wanted}{size}.", "", actual, expected)


def _rounds_to(actual: object, expected: object) -> bool:
    """Return whether `actual` is a whole number as its coarse dtype rounds it: float32 cannot hold 21,018,401."""
    if not isinstance(actual, np.floating) or not isinstance(expected, int):
        return False
    try:
        with np.errstate(over="ignore"):
            return bool(type(actual)(expected) == actual) and bool(np.isfinite(actual))
    except OverflowError:
        return False


def _distance(one: complex, other: complex) -> float:
    try:
        distance = abs(one - other)
    except OverflowError:
        return math.inf
    return math.inf if distance != distance else float(distance)


def _inexact(value: Any) -> Any:
    """Return the value as float or complex; what is too large becomes an infinity, which agrees with nothing finite."""
    try:
        if isinstance(value, complex | np.complexfloating):
            return complex(value) if value.imag else float(value.real)
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _negative(value: Any) -> Any:
    return -int(value) if isinstance(value, bool) else -value


def _is_exact(value: object) -> bool:
    return isinstance(value, int | Fraction)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1)
