"""Versions of one weight as a frozen base and a stack of low-rank adapters.

Hu et al. (2022), section 4.2: tasks are switched by exchanging the low-rank updates alone. The weight of version m is

    W_m = W + Σ_{j ≤ m} (α_j/r_j) A_j B_j,   of rank at most Σ r_j away from W

and is summed up from the base each time. Taking an update back by subtracting it, (W + ΔW) - ΔW, would leave rounding
errors of W's size; dropping it from the stack leaves none, so the earlier version comes back bit for bit.
"""

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.adaptation.lora import lora_delta

Array = NDArray[np.float64]


@final
class AdapterRegistry:
    """The base weight (d, k) and the accepted adapters, the latest last."""

    def __init__(self, W: ArrayLike) -> None:
        self._base: Array = np.array(W, dtype=np.float64)  # (d, k)
        self._adapters: list[tuple[Array, Array, float]] = []

    def accept(self, A: ArrayLike, B: ArrayLike, alpha: float) -> None:
        """Add an adapter, A (d, r) and B (r, k), to the present version."""
        self._adapters.append((np.array(A, dtype=np.float64), np.array(B, dtype=np.float64), alpha))

    def revert(self) -> None:
        """Go back to the version before the latest accepted adapter.

        Raises:
            IndexError: no adapter is left.
        """
        self._adapters.pop()

    def weight(self) -> Array:
        """Return the present version merged, (d, k)."""
        weight = self._base.copy()
        for A, B, alpha in self._adapters:
            weight += lora_delta(A, B, alpha)  # (d, k)
        return weight

    def stored_floats(self) -> int:
        """Return d k + Σ r_j (d + k), the floats to store to restore every version."""
        return self._base.size + sum(A.size + B.size for A, B, _ in self._adapters)
