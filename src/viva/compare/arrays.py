"""Compares one array with another: shape, dtype kind, finite, close, and where the first difference is."""

from typing import Final

import numpy as np

from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.normalize import Array
from viva.compare.numbers import NAN_ADVICE
from viva.compare.show import index, number, percent, show, show_two, tolerance_note
from viva.compare.tolerances import COARSE_ADVICE, Tolerance, is_coarse, roundings, tolerance_for
from viva.model.counting import counted

_FEW: Final = 8
"""Arrays of at most this many whole numbers are shown as they are."""


def compare_arrays(actual: Array, expected: Array, context: Context) -> Difference | None:
    """Return the first difference, or None if the arrays agree.

    Nothing is computed before the shapes are equal, so the author's array bounds the cost.
    """
    if actual.shape != expected.shape:
        return None if _both_empty(actual, expected) else _shapes(actual, expected)
    if np.array_equal(actual, expected):
        return None
    found = _differ(actual, expected, context)
    if found is not None and context.sign and _differ(_negative(actual), expected, context) is None:
        return None
    return found


def first(bad: Array) -> tuple[int, ...]:
    """Return the position of the first True."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))


def _both_empty(actual: Array, expected: Array) -> bool:
    """Return whether both are empty: an empty list cannot say how long its rows would have been."""
    return expected.size == 0 and expected.shape[0] == 0 and actual.shape == (0,)


def _shapes(actual: Array, expected: Array) -> Difference:
    if actual.ndim == expected.ndim == 1:
        count = counted(actual.size, "element")
        few = max(actual.size, expected.size) <= _FEW
        values = (f": {show(actual)}", f": {show(expected)}") if few else ("", "")
        text = f"has {count}{values[0]}; expected {expected.size}{values[1]}."
    else:
        text = f"has shape {actual.shape}; expected {expected.shape}."
    return Difference(text, "", actual, expected, _shape_advice(actual, expected))


def _shape_advice(actual: Array, expected: Array) -> str:
    if actual.ndim == expected.ndim:
        return ""
    without_ones = tuple(n for n in actual.shape if n != 1)
    if without_ones == tuple(n for n in expected.shape if n != 1):
        return "Only axes of length 1 differ: add or remove one (`unsqueeze`, `squeeze`, `[None]`)."
    if actual.ndim == 1 < expected.ndim and actual.size == expected.size:
        return "It has the right number of elements: is a `reshape` missing?"
    axes = counted(actual.ndim, "axis", "axes")
    return f"It has {axes} where {expected.ndim} {'is' if expected.ndim == 1 else 'are'} expected."


def _differ(actual: Array, expected: Array, context: Context) -> Difference | None:
    bad, tolerance, scale = disagreeing(actual, expected, context)
    count = int(np.count_nonzero(bad))
    if not count:
        return None
    where = first(bad)
    one, other = actual[where].item(), expected[where].item()
    if one != one and other == other:
        return _nan(actual, expected, where, other)
    if isinstance(one, complex) and one.imag and expected.dtype.kind != "c":
        text = f"holds complex numbers, first {show(one)} at {index(where)}; expected real ones."
        return Difference(text, "", actual, expected)
    seen, wanted = show_two(actual[where] if actual.dtype.kind == "f" else one, other)
    if expected.dtype.kind in "biu" and expected.ndim == 1 and expected.size <= _FEW:
        return Difference(f"is {show(actual)}; expected {show(expected)}.", "", actual, expected)
    note = tolerance_note(abs(one - other), tolerance.allowed(abs(other), scale)) if tolerance else ""
    close = f" ({note})" if note else ""
    advice = COARSE_ADVICE if close and is_coarse(actual) else ""
    if expected.size == 1:
        return Difference(f"holds {seen}; expected {wanted}{close}.", "", actual, expected, advice)
    text = (
        f"differs from the expected one at {count} of {expected.size} elements ({percent(count, expected.size)}), "
        f"first at {index(where)}: {seen}, expected {wanted}{close}.{_largest(actual, expected, bad, where)}"
    )
    return Difference(text, "", actual, expected, advice)


def disagreeing(actual: Array, expected: Array, context: Context) -> tuple[Array, Tolerance | None, float]:
    """Return which elements disagree, the tolerance (None if compared exactly), and the scale of the expected."""
    given = context.rtol is not None or context.atol is not None
    exact = expected.dtype.kind == "b" or (expected.dtype.kind in "iu" and actual.dtype.kind in "biu" and not given)
    if exact:
        return np.asarray(actual != expected), None, 0.0
    whole = expected.dtype.kind in "iu"
    tolerance = tolerance_for(expected, rtol=context.rtol, atol=context.atol, whole=whole)
    one, other = _wide(actual), _wide(expected)
    with np.errstate(all="ignore"):
        size = np.abs(other)
        finite = np.isfinite(size) & np.isfinite(one)
        scale = float(np.max(size, where=np.isfinite(size), initial=0.0))
        allowed = np.minimum(tolerance.rtol * size + tolerance.absolute(scale), tolerance.cap)
        agrees = finite & (np.abs(one - other) <= allowed)
        agrees |= np.asarray(one == other)
        agrees |= np.isnan(one) & np.isnan(other)
        if (rounded := roundings(actual)) is not None and other.dtype.kind == "f":
            agrees |= finite & (rounded(other - allowed) <= one) & (one <= rounded(other + allowed))
    return ~agrees, tolerance, scale


def _negative(array: Array) -> Array:
    """Return -array; whole numbers and truths are widened, because their dtypes may have no negative numbers."""
    return -(array if array.dtype.kind == "f" else _wide(array))


def _wide(array: Array) -> Array:
    """Return the array in at least double precision, so that differences neither wrap around nor overflow."""
    if array.dtype.kind == "c":
        return array.astype(np.promote_types(array.dtype, np.complex128), copy=False)
    return array.astype(np.promote_types(array.dtype, np.float64), copy=False)


def _nan(actual: Array, expected: Array, where: tuple[int, ...], other: complex) -> Difference:
    count = int(np.count_nonzero(np.isnan(actual) & ~np.isnan(_wide(expected))))
    text = (
        f"holds NaN (not a number) at {count} of {actual.size} elements, first at {index(where)}, "
        f"expected {show(other)}: {NAN_ADVICE}, and for a row in which everything is masked."
    )
    return Difference(text, "", actual, expected)


def _largest(actual: Array, expected: Array, bad: Array, where: tuple[int, ...]) -> str:
    """Return where the largest error is, if that says more than the first one does."""
    if np.count_nonzero(bad) < 2 or expected.dtype.kind == "b":
        return ""
    with np.errstate(all="ignore"):
        error = np.abs(_wide(actual) - _wide(expected))
    error[~np.isfinite(error)] = 0.0
    worst = first(error == error.max())
    if error[worst] <= 0 or worst == where or error[worst] <= 1.001 * error[where]:
        return ""
    return f" The largest error is {number(float(error[worst]))}, at {index(worst)}."
