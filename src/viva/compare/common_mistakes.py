"""Relations between two arrays that show a common mistake: transposed, another sign or order, another convention.

Each is a fact about all values, checked as strictly as an answer is, so that a student can rely on it.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from viva.compare.arrays import compare_arrays
from viva.compare.context import Context
from viva.compare.masks import VERY_NEGATIVE
from viva.compare.normalize import Array, as_array

MIN_SIZE: Final = 4
MAX_SIZE: Final = 1_000_000
"""Elements of an array that is looked at."""
_CONTEXT: Final = Context()


def common_mistake(actual: object, expected: object) -> str:
    """Return one sentence about how the values are related; empty if none holds, or more than one does.

    A relation that fits two or three numbers may fit by chance, so it is told of four or more.
    """
    wanted = as_array(expected)
    if wanted is None or not MIN_SIZE <= wanted.size <= MAX_SIZE or not isinstance(actual, list | tuple | np.ndarray):
        return ""
    if len(actual) > wanted.size:  # an array of one item at least for each of these cannot have the expected size
        return ""
    given = as_array(actual)
    if given is None or given.size != wanted.size or "c" in (given.dtype.kind, wanted.dtype.kind):
        return ""
    with np.errstate(all="ignore"):
        fitting = [sentence for relation in _RELATIONS if (sentence := relation(given, wanted))]
        fitting = fitting or [_reordered(given, wanted)]  # which is true of most of the others as well
    return fitting[0] if len(fitting) == 1 else ""


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


def _other_axis(actual: Array, expected: Array) -> str:
    if actual.shape != expected.shape or expected.ndim < 2 or expected.dtype.kind != "f":
        return ""
    if not bool(np.allclose(expected.sum(-1), 1, atol=1e-5)):
        return ""
    if bool(np.allclose(actual.sum(-1), 1, atol=1e-4)):
        return ""
    if bool(np.allclose(actual.sum(-2), 1, atol=1e-4)):
        return "Its columns sum to 1 where its rows should: the softmax runs along the wrong axis."
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
    _additive,
    _other_axis,
)
