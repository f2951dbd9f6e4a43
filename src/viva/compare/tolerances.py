"""The tolerances: how far apart two numbers may be and still be the same answer.

The tolerance belongs to the expected value: an answer in a coarser dtype is compared as strictly as any other, so that
casting buys nothing. It leaves room for a right answer that was computed in float32, or in another order; a wrong one
is far away. A value that a coarse dtype cannot hold is not a mistake either: `roundings` gives the value that a right
answer becomes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from viva.compare.normalize import Array

WHOLE_CAP: Final = 0.25
"""A computed value counts as a whole number only if it is nearer than this, whatever the relative tolerance."""
COARSE_ADVICE: Final = "It has the few digits of half precision: compute in float32 or float64."
_DISTINCT: Final = 4
"""An array with fewer different values may be on the grid of bfloat16 by chance."""


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two numbers agree when |actual - expected| <= rtol * |expected| + atol."""

    rtol: float
    """The part relative to the expected value."""
    atol: float
    """The absolute part, for values of the order of one; shrinks with the largest expected value below one."""
    floor: float
    """The smallest absolute tolerance: the rounding of sums that cancel."""
    fixed: bool = False
    """True when the author chose the absolute tolerance: then it is used as it is."""
    cap: float = math.inf
    """The largest allowed distance, whatever the other two say."""

    def absolute(self, scale: float) -> float:
        """Return the absolute part for values whose largest expected magnitude is `scale` (0 when nothing is known)."""
        if self.fixed or not 0.0 < scale < 1.0:
            return self.atol
        return max(self.atol * scale, self.floor)

    def allowed(self, expected: float, scale: float) -> float:
        """Return the largest distance from `expected` that still agrees."""
        return min(self.rtol * abs(expected) + self.absolute(scale), self.cap)


NUMBER: Final = Tolerance(rtol=1e-5, atol=1e-7, floor=1e-13)
"""For one number, against which nothing cancels."""
ARRAY: Final = Tolerance(rtol=1e-5, atol=5e-6, floor=1e-13)
"""For arrays, in which small values carry the rounding of large ones; float32 uses up to a tenth of it."""
HALF: Final = Tolerance(rtol=1e-2, atol=1e-3, floor=1e-7)
"""For expected values in float16: the question itself uses half precision."""


def tolerance_for(
    expected: object, *, rtol: float | None = None, atol: float | None = None, whole: bool = False
) -> Tolerance:
    """Return the tolerance for an answer to be compared with `expected`.

    Args:
        expected: a number or an array; only its dtype counts.
        rtol, atol: what the author asks for instead of the standard.
        whole: the expected value is a whole number; then being nearer to it than to its neighbours is not enough.
    """
    entry = ARRAY if isinstance(expected, np.ndarray) else NUMBER
    if isinstance(expected, np.ndarray | np.generic) and expected.dtype == np.float16:
        entry = HALF
    if rtol is None and atol is None:
        return Tolerance(entry.rtol, entry.atol, entry.floor, cap=WHOLE_CAP) if whole else entry
    return Tolerance(
        entry.rtol if rtol is None else rtol,
        entry.atol if atol is None else atol,
        entry.floor,
        fixed=atol is not None,
    )


def roundings(actual: object) -> Callable[[Array], Array] | None:
    """Return the function that rounds float64 values as the dtype of an answer does; None if that changes nothing.

    bfloat16 arrives as float32: an array counts as bfloat16 if every value is on its grid and several are different.
    """
    if not isinstance(actual, np.ndarray | np.floating) or actual.dtype.kind != "f" or actual.dtype.itemsize >= 8:
        return None
    dtype = actual.dtype
    if isinstance(actual, np.ndarray) and dtype == np.float32 and _is_bfloat16(actual):
        return _to_bfloat16
    return lambda values: values.astype(dtype).astype(np.float64)


def is_coarse(actual: object) -> bool:
    """Return whether an answer came in half precision: float16 or bfloat16."""
    if not isinstance(actual, np.ndarray | np.floating):
        return False
    half = actual.dtype == np.float16
    return half or (isinstance(actual, np.ndarray) and actual.dtype == np.float32 and _is_bfloat16(actual))


def _is_bfloat16(values: Array) -> bool:
    on_grid = not np.any(np.ascontiguousarray(values).view(np.uint32) & 0xFFFF)
    return bool(on_grid) and len(np.unique(values)) >= _DISTINCT


def _to_bfloat16(values: Array) -> Array:
    """Round to the nearest bfloat16, ties to even: the upper half of a float32."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    upper = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    rounded: np.ndarray[Any, np.dtype[np.float32]] = upper.astype(np.uint32).view(np.float32)
    return rounded.astype(np.float64)
