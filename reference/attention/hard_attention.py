"""Argmax ("hard") attention, as in Hahn (2020), "Theoretical Limitations of Self-Attention in Neural Sequence Models".

    hard_attention(q, K, V) = v_i with i = argmax_i q·k_i = lim softmax(β q Kᵀ) V as β grows, unless keys tie

The weights are one-hot and piecewise constant: the gradients with respect to q and K are exactly zero wherever they
exist (at ties they do not), and the whole gradient of the output goes to the chosen value.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def hard_attention(q: ArrayLike, K: ArrayLike, V: ArrayLike) -> Array:
    """Return the value of the key with the largest inner product with the query; the first of several.

    Args:
        q: the query, shape (h,).
        K: the keys, shape (n, h).
        V: the values, shape (n, d).

    Returns:
        Shape (d,).
    """
    scores = np.asarray(K, dtype=np.float64) @ np.asarray(q, dtype=np.float64)  # (n,)
    chosen: Array = np.asarray(V, dtype=np.float64)[scores.argmax()]  # (d,)
    return chosen
