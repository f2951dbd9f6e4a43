"""Adding or concatenating position embeddings, seen from the dot product with q = k = z.

    z = x + p:     (x_1 + p_1)·(x_2 + p_2) = x_1·x_2 + x_1·p_2 + p_1·x_2 + p_1·p_2
    z = [x, p]:    [x_1, p_1]·[x_2, p_2]   = x_1·x_2 + p_1·p_2

Ke, He and Liu (2021), "Rethinking Positional Encoding in Language Pre-training", equation 6, has the same four terms.
The two cross terms have mean 0 for words that are independent of positions and of mean 0; their variance is not 0.
"""

import numpy as np
from numpy.typing import ArrayLike


def dot_add(x1: ArrayLike, p1: ArrayLike, x2: ArrayLike, p2: ArrayLike) -> float:
    """Return (x1 + p1)·(x2 + p2) for four vectors of shape (d,)."""
    return float((np.asarray(x1) + np.asarray(p1)) @ (np.asarray(x2) + np.asarray(p2)))


def dot_concat(x1: ArrayLike, p1: ArrayLike, x2: ArrayLike, p2: ArrayLike) -> float:
    """Return [x1, p1]·[x2, p2] for word vectors of shape (d,) and position vectors of shape (d_pos,)."""
    return float(np.concatenate([np.asarray(x1), np.asarray(p1)]) @ np.concatenate([np.asarray(x2), np.asarray(p2)]))


def cross_terms(x1: ArrayLike, p1: ArrayLike, x2: ArrayLike, p2: ArrayLike) -> float:
    """Return x1·p2 + p1·x2, the terms that only adding has."""
    return float(np.asarray(x1) @ np.asarray(p2) + np.asarray(p1) @ np.asarray(x2))
