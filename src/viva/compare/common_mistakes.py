"""Common mistakes visible in the two values: transposed, another sign or order, a missing factor, rounded.

Each is a fact about the values, checked as strictly as an answer is, so that a student can rely on it.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from viva.compare.arrays import compare_arrays
from viva.compare.context import Context
from viva.compare.masks import VERY_NEGATIVE
from viva.compare.normalize import Array, as_array, is_number
from viva.compare.show import number

_SIZE_CAP: Final = 1_000_000
_CONTEXT: Final = Context()


def common_mistake(actual: object, expected: object) -> str:
    """Return one sentence about how the values are related; empty if no relation is found."""
    if is_number(actual) and is_number(expected):
        return _numbers(actual, expected)
    wanted = as_array(expected)
    if wanted is None or not 1 < wanted.size <= _SIZE_CAP or not isinstance(actual, list | tuple | np.ndarray):
        return ""
    if len(actual) > wanted.size:  # an array of one item at least for each of these cannot have the expected size
        return ""
    given = as_array(actual)
    if given is None or given.size != wanted.size or "c" in (given.dtype.kind, wanted.dtype.kind):
        return ""
    with np.errstate(all="ignore"):
        for relation in _RELATIONS:
            if sentence := relation(given, wanted):
                return sentence
    return ""


def _numbers(actual: Any, expected: Any) -> str:
    if any(isinstance(v, bool | complex | np.complexfloating) for v in (actual, expected)):
        return ""
    try:
        one, other = float(actual), float(expected)
    except OverflowError:
        return ""
    if not math.isfinite(one) or not math.isfinite(other) or other == 0:
        return ""
    if isinstance(actual, int) and isinstance(expected, int):
        # Between 0 and 1 every wrong answer is off by one.
        return "It is off by one." if abs(actual - expected) == 1 and abs(expected) > 1 else ""
    if one == 0:
        return ""
    places = _rounded_to(one, other)
    if places is not None:
        return f"It is the expected number rounded to {places} decimal places: return it unrounded."
    fitting = [
        s
        for s, candidate in _related(one, other)
        if candidate is not None and math.isclose(one, candidate, rel_tol=1e-6)
    ]
    # 2 for 4 may be its root or its half, and many small whole numbers are powers of each other.
    return fitting[0] if len(fitting) == 1 else ""


def _related(actual: float, expected: float) -> list[tuple[str, float | None]]:
    positive = expected > 0
    simple: list[tuple[str, float | None]] = [
        ("It has the opposite sign.", -expected),
        ("It is 100 times the expected number: is it a percentage?", 100 * expected),
        ("It is a hundredth of the expected number: was a percentage asked?", expected / 100),
    ]
    if expected == round(expected, 1) and actual == round(actual, 1):
        return simple
    return [
        *simple,
        ("It is the natural logarithm of the expected number.", math.log(expected) if positive else None),
        ("It is e to the power of the expected number.", math.exp(expected) if expected < 700 else None),
        ("It is the square root of the expected number.", math.sqrt(expected) if positive else None),
        ("It is the square of the expected number.", expected * expected),
        ("It is one divided by the expected number.", 1 / expected),
        ("It is one minus the expected number.", 1 - expected),
    ]


def _rounded_to(actual: float, expected: float) -> int | None:
    for places in range(1, 7):
        if round(expected, places) == actual:
            return places
    return None


def _transposed(actual: Array, expected: Array) -> str:
    if actual.ndim < 2 or not _same(np.swapaxes(actual, -1, -2), expected):
        return ""
    return "It is the expected one transposed: rows and columns are swapped."


def _reshaped(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape and _same(actual.reshape(expected.shape), expected):
        return "The values and their order are right; only the shape is not."
    return ""


def _swapped(actual: Array, expected: Array) -> str:
    binary = all(bool(np.all((a == 0) | (a == 1))) for a in (actual, expected))
    opposite = binary and bool(np.array_equal(actual != 1, expected == 1))
    return "Every element is the opposite of the expected one." if opposite else ""


def _additive(actual: Array, expected: Array) -> str:
    marks = bool(np.all((actual == 0) | (actual <= VERY_NEGATIVE))) and bool(np.any(actual <= VERY_NEGATIVE))
    if actual.dtype.kind != "b" and marks and bool(np.all((expected == 0) | (expected == 1))):
        return "It is an additive mask (0 and -inf) where one of 0 and 1 is asked."
    return ""


def _negated(actual: Array, expected: Array) -> str:
    return "Every element has the opposite sign." if actual.dtype.kind in "if" and _same(-actual, expected) else ""


def _reversed(actual: Array, expected: Array) -> str:
    return "It is the expected one in reverse order." if _same(actual[::-1], expected) else ""


def _shifted(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or actual.dtype.kind not in "iu" or expected.dtype.kind not in "iu":
        return ""
    offset = int(actual.flat[0]) - int(expected.flat[0])
    if abs(offset) == 1 and _same(actual.astype(object) - offset, expected):
        return f"Every element is one too {'large' if offset > 0 else 'small'}: is the counting off by one?"
    return ""


def _other_axis(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or expected.ndim < 2 or expected.dtype.kind != "f":
        return ""
    if not bool(np.allclose(expected.sum(-1), 1, atol=1e-5)):
        return ""
    if bool(np.allclose(actual.sum(-1), 1, atol=1e-4)):
        return ""
    if bool(np.allclose(actual.sum(-2), 1, atol=1e-4)):
        return "Its columns sum to 1 where its rows should: the softmax runs along the wrong axis."
    return "Its rows should sum to 1 and do not."


def _scaled(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or expected.dtype.kind == "b" or actual.dtype.kind == "b":
        return ""
    largest = int(np.argmax(np.abs(np.nan_to_num(expected, posinf=0, neginf=0))))
    if not expected.flat[largest]:
        return ""
    factor = float(actual.flat[largest]) / float(expected.flat[largest])
    if factor in (0.0, 1.0) or not math.isfinite(factor) or not _same(actual / factor, expected.astype(float)):
        return ""
    return f"Every element is {number(factor)} times the expected one: is a factor missing, or one too many?"


def _rounded(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or expected.dtype.kind != "f" or actual.dtype.kind == "b":
        return ""
    for places in range(7):
        if bool(np.allclose(actual, np.round(expected, places), rtol=1e-12, atol=1e-12)):
            return f"Its elements are the expected ones rounded to {places} decimal places: return them unrounded."
    return ""


def _reordered(actual: Array, expected: Array) -> str:
    if actual.shape == expected.shape and _same(np.sort(actual, axis=None), np.sort(expected, axis=None)):
        return "It holds the right numbers in another order."
    return ""


def _same(actual: Array, expected: Array) -> bool:
    if actual.dtype.kind == "O":
        return bool(np.array_equal(actual, expected))
    return actual.shape == expected.shape and compare_arrays(actual, expected, _CONTEXT) is None


_RELATIONS: Final[tuple[Callable[[Array, Array], str], ...]] = (
    _transposed,
    _reshaped,
    _swapped,
    _negated,
    _reversed,
    _shifted,
    _additive,
    _rounded,
    _scaled,
    _other_axis,
    _reordered,
)
