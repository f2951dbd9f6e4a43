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
from viva.compare.tolerances import COARSE_ADVICE, is_coarse, roundings, tolerance_for

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
    try:  # numpy would round the expected value to the dtype of the answer, up to infinity
        if bool((float(actual) if isinstance(actual, np.floating) else actual) == expected):
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
        expected, rtol=context.rtol, atol=context.atol, whole=_is_exact(expected) and _is_whole(expected)
    )
    allowed = tolerance.allowed(abs(other), abs(other))
    distance = _distance(one, other)
    if math.isfinite(abs(other)) and (distance <= allowed or _rounds_to(actual, one, other, allowed)):
        return None
    both_whole = _is_whole(expected) and isinstance(one, float) and one.is_integer()
    note = tolerance_note(distance, allowed) if not both_whole else ""
    size = f" (off by {number(distance)}; {note})" if note else ""
    advice = COARSE_ADVICE if note and is_coarse(actual) else ""
    return Difference(f"is {seen}; expected {wanted}{size}.", "", actual, expected, advice)


def _rounds_to(actual: object, one: complex, other: complex, allowed: float) -> bool:
    """Return whether a right answer becomes `actual` in its coarse dtype: float32 cannot hold 21,018,401."""
    rounded = roundings(actual)
    if rounded is None or isinstance(one, complex) or isinstance(other, complex) or not math.isfinite(one):
        return False
    with np.errstate(over="ignore"):
        low, high = rounded(np.array([other - allowed, other + allowed])).tolist()
    return bool(low <= one <= high)


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
