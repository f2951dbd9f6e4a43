"""Scaled dot-product attention: Vaswani et al. (2017), "Attention Is All You Need", equation 1 and its footnote 4.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
    q, k with independent components of mean μ and variance σ²:  E[q·k] = h μ²,  Var[q·k] = h (σ⁴ + 2 μ² σ²)

Masks follow the course: 1 = masked, 0 = visible.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def softmax(scores: ArrayLike, axis: int = -1) -> Array:
    """Return exponentials that sum to 1 along `axis`.

    The maximum is subtracted first, so they are finite for scores of any size.
    """
    s = np.asarray(scores, dtype=np.float64)
    exponentials = np.exp(s - s.max(axis=axis, keepdims=True))
    weights: Array = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return weights


def attention_weights(Q: ArrayLike, K: ArrayLike, mask: ArrayLike | None = None) -> Array:
    """Return softmax(Q Kᵀ / √d_k), shape (query, key); each row sums to 1.

    Args:
        Q: shape (query, d_k).
        K: shape (key, d_k).
        mask: shape (query, key), 1 = masked; every row must leave one key visible.
    """
    q, k = np.asarray(Q, dtype=np.float64), np.asarray(K, dtype=np.float64)
    scores = q @ k.T / np.sqrt(q.shape[-1])  # (query, key)
    if mask is not None:
        scores = np.where(np.asarray(mask) == 1, -np.inf, scores)  # (query, key)
    return softmax(scores, axis=-1)  # over the keys


def scaled_dot_product_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask: ArrayLike | None = None) -> Array:
    """Return equation 1, shape (query, d_v).

    Args:
        Q: shape (query, d_k).
        K: shape (key, d_k).
        V: shape (key, d_v).
        mask: shape (query, key), 1 = masked, or None.
    """
    output: Array = attention_weights(Q, K, mask) @ np.asarray(V, dtype=np.float64)  # (query, d_v)
    return output


def attention_scores(X: ArrayLike, W_Q: ArrayLike, W_K: ArrayLike) -> Array:
    """Return the scores of self-attention before softmax, (X W_Q)(X W_K)ᵀ / √d_k.

    With W_Q = W_K they are a Gram matrix, so symmetric and positive semi-definite: "i attends to j" could never differ
    from "j attends to i". Distinct matrices lift that restriction.

    Args:
        X: shape (token, d).
        W_Q: shape (d, d_k).
        W_K: shape (d, d_k).
    """
    x = np.asarray(X, dtype=np.float64)
    queries = x @ np.asarray(W_Q, dtype=np.float64)  # (token, d_k)
    keys = x @ np.asarray(W_K, dtype=np.float64)  # (token, d_k)
    scores: Array = queries @ keys.T / np.sqrt(keys.shape[-1])  # (token, token)
    return scores


def qk_moments(mu: float, sigma: float, h: int) -> tuple[float, float]:
    """Return mean and variance of q·k for vectors of h independent components.

    The components have mean `mu` and standard deviation `sigma`. Each product q_i k_i has mean μ² and second moment
    (σ² + μ²)², so variance σ⁴ + 2 μ² σ²; the h of them add up. With μ = 0 and σ = 1 the variance is h: dividing q·k by
    √h brings it back to 1.
    """
    return h * mu**2, h * (sigma**4 + 2 * mu**2 * sigma**2)


def softmax_sensitivity(weights: ArrayLike) -> Array:
    """Return Σ_i α_i (1 - α_i) over the last axis: the trace of the Jacobian of softmax, near 0 where it saturates."""
    alpha = np.asarray(weights, dtype=np.float64)
    sensitivity: Array = (alpha * (1 - alpha)).sum(axis=-1)
    return sensitivity
