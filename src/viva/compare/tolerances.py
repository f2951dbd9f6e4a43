"""How far apart two numbers may be and still be the same answer: one table, by the coarser of the two dtypes.

A right answer computed in another order, or partly in float32, never loses a point; a wrong one is far away. Python
floats count as float64, and its relative tolerance leaves room for a float32 that passed through `.item()`.
"""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

WHOLE_CAP: Final = 0.25
"""A computed value counts as a whole number only if it is nearer than this, whatever the relative tolerance."""


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two numbers agree when |actual - expected| <= rtol * |expected| + atol."""

    rtol: float
    """Relative to the expected value."""
    atol: float
    """Absolute, for values of the order of one; shrinks with the largest expected value below one."""
    floor: float
    """What the absolute tolerance never shrinks below: rounding of sums that cancel."""
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


TABLE: Final[dict[str, Tolerance]] = {
    "float16": Tolerance(rtol=1e-2, atol=1e-3, floor=1e-7),
    "float32": Tolerance(rtol=1e-4, atol=1e-5, floor=1e-9),
    "float64": Tolerance(rtol=1e-5, atol=1e-7, floor=1e-13),
}
_COARSENESS: Final = {"float16": 0, "float32": 1, "complex64": 1}
_BY_COARSENESS: Final = (TABLE["float16"], TABLE["float32"], TABLE["float64"])


def tolerance_for(
    actual: object, expected: object, *, rtol: float | None = None, atol: float | None = None, whole: bool = False
) -> Tolerance:
    """Return the tolerance for two numbers or arrays.

    Args:
        actual, expected: numbers or arrays; only their dtypes count. Exact numbers and Python floats are float64.
        rtol, atol: what the author asks for instead of the table's.
        whole: the expected value is a whole number; then being nearer to it than to its neighbours is not enough.
    """
    entry = _BY_COARSENESS[min(_coarseness(actual), _coarseness(expected))]
    if rtol is None and atol is None:
        return Tolerance(entry.rtol, entry.atol, entry.floor, cap=WHOLE_CAP) if whole else entry
    return Tolerance(
        entry.rtol if rtol is None else rtol,
        entry.atol if atol is None else atol,
        entry.floor,
        fixed=atol is not None,
    )


def _coarseness(value: object) -> int:
    if isinstance(value, np.ndarray | np.generic):
        return _COARSENESS.get(value.dtype.name, 2)
    return 2
