"""The causal mask: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.3.

M_ij = 0 if j ≤ i, else -∞          added to the scores before softmax, so that position i takes nothing from j > i
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def causal_mask(size: int) -> Array:
    """Return the additive mask (size, size): row = the position that looks, column = the position looked at."""
    future = np.arange(size)[None, :] > np.arange(size)[:, None]  # (size, size)
    return np.where(future, -np.inf, 0.0)
