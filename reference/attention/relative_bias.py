"""Attention biased by position: vectors in Shaw et al. (2018), numbers in Raffel et al. (2020), section 2.1, as here.

    a_i = Σ_j α_ij v_j        α_ij = exp(q_i·k_j + π_ij) / Σ_l exp(q_i·k_l + π_il)        no scale: the source has none
    [q_i, p_i]·[k_j, r_j] = q_i·k_j + p_i·r_j,  so  π_ij = p_i·r_j  does what concatenating p to q and r to k does

If π_ij depends on i - j alone, a head learns one number for each of the 2T - 1 differences of positions.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.attention.scaled_dot_product import softmax

Array = NDArray[np.float64]


def position_bias(Q_pos: ArrayLike, K_pos: ArrayLike) -> Array:
    """Return π_ij = q_i^(pos) · k_j^(pos), (query, key); Q_pos (query, d_pos), K_pos (key, d_pos)."""
    bias: Array = np.asarray(Q_pos, dtype=np.float64) @ np.asarray(K_pos, dtype=np.float64).T
    return bias


def attention_with_bias(Q: ArrayLike, K: ArrayLike, V: ArrayLike, Pi: ArrayLike, scale: float = 1.0) -> Array:
    """Return softmax(scale · Q Kᵀ + Π) V.

    Args:
        Q: shape (query, d).
        K: shape (key, d).
        V: shape (key, d_v).
        Pi: shape (query, key).
        scale: factor of the products, not of the biases.

    Returns:
        Shape (query, d_v).
    """
    q, k, v, pi = (np.asarray(matrix, dtype=np.float64) for matrix in (Q, K, V, Pi))
    output: Array = softmax(scale * (q @ k.T) + pi) @ v  # (query, d_v)
    return output


def unnormalised_attention_with_bias(Q: ArrayLike, K: ArrayLike, V: ArrayLike, Pi: ArrayLike) -> Array:
    """Return exp(Q Kᵀ + Π) V, as the source prints it.

    The denominator of softmax is missing, so it is not a weighted mean of values.
    """
    q, k, v, pi = (np.asarray(matrix, dtype=np.float64) for matrix in (Q, K, V, Pi))
    output: Array = np.exp(q @ k.T + pi) @ v  # (query, d_v)
    return output


def relative_bias_params(T: int, m: int, causal: bool = False, clip: int | None = None) -> int:
    """Count the biases π_{i-j} that one layer of `m` heads learns.

    (2T - 1) m for all pairs of positions; T m if j ≤ i; (2k + 1) m and (k + 1) m if distances are clipped to k.

    Args:
        T: longest context.
        m: number of heads.
        causal: whether a position sees only itself and its past.
        clip: the largest distance that is distinguished, None for all of them.
    """
    farthest = T - 1 if clip is None else min(clip, T - 1)
    return (farthest + 1 if causal else 2 * farthest + 1) * m
