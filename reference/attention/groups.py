"""Attention inside groups: Liu et al. (2018), "Generating Wikipedia by Summarizing Long Sequences", section 4.2.4.

    GroupAttention(Q, K, V) = Concat_g( softmax(Q_g K_gᵀ / √d_k) V_g )      g = 1 … G equal, consecutive groups

The same as full attention under a block-diagonal mask; the scores are G · (n/G)² = n²/G numbers instead of n².
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.attention.scaled_dot_product import Array, scaled_dot_product_attention


def group_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, groups: int) -> Array:
    """Return the attention inside groups (token, d_v) for Q and K (token, d_k), V (token, d_v).

    Raises:
        ValueError: the tokens cannot be divided into `groups` equal groups.
    """
    q, k, v = (np.asarray(matrix, dtype=np.float64) for matrix in (Q, K, V))
    if groups < 1 or len(q) % groups:
        raise ValueError(f"{len(q)} tokens cannot be divided into {groups} equal groups")
    parts = zip(*(np.split(matrix, groups) for matrix in (q, k, v)), strict=True)  # each (token / groups, d)
    return np.concatenate([scaled_dot_product_attention(*part) for part in parts])  # (token, d_v)


def block_diagonal_mask(n: int, groups: int) -> NDArray[np.int64]:
    """Return (n, n), 0 inside each of `groups` equal groups and 1 = masked between them."""
    group_of = np.arange(n) // (n // groups)  # (n,)
    mask: NDArray[np.int64] = (group_of[:, None] != group_of[None, :]).astype(np.int64)
    return mask


def score_entries(n: int, groups: int) -> int:
    """Count the scores that group attention computes: groups · (n / groups)²."""
    return groups * (n // groups) ** 2
