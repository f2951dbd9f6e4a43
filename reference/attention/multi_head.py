"""Multi-head attention: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.

    head_h(X) = softmax(X W_Q^h (X W_K^h)ᵀ / √d_h) X W_V^h        d_h = d / n_heads
    MultiHead(X) = Concat(head_1, …, head_H) W_O

W_Q^h are columns h·d_h … (h + 1)·d_h - 1 of one (d, d) matrix, as in torch's `in_proj_weight`. No biases.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.attention.scaled_dot_product import softmax

Array = NDArray[np.float64]


class Weights(NamedTuple):
    """The four matrices of a multi-head attention, each (d, d)."""

    W_Q: Array
    W_K: Array
    W_V: Array
    W_O: Array


def multi_head_attention(
    X: ArrayLike, W_Q: ArrayLike, W_K: ArrayLike, W_V: ArrayLike, W_O: ArrayLike, n_heads: int
) -> Array:
    """Apply self-attention to every sequence of a batch, without mask.

    Args:
        X: shape (batch, token, d).
        W_Q: shape (d, d), applied from the right; so are the others.
        W_K: shape (d, d).
        W_V: shape (d, d).
        W_O: shape (d, d).
        n_heads: a divisor of d.

    Returns:
        Shape (batch, token, d).

    Raises:
        ValueError: d is not a multiple of `n_heads`.
    """
    x = np.asarray(X, dtype=np.float64)
    batch, tokens, d = x.shape
    if n_heads < 1 or d % n_heads:
        raise ValueError(f"d = {d} is no multiple of the {n_heads} heads")
    d_head = d // n_heads

    def heads(W: ArrayLike) -> Array:
        projected = x @ np.asarray(W, dtype=np.float64)  # (batch, token, d)
        return projected.reshape(batch, tokens, n_heads, d_head).swapaxes(1, 2)  # (batch, head, token, d_head)

    q, k, v = heads(W_Q), heads(W_K), heads(W_V)
    weights = softmax(q @ k.swapaxes(2, 3) / np.sqrt(d_head))  # (batch, head, query, key)
    mixed = (weights @ v).swapaxes(1, 2).reshape(batch, tokens, d)  # (batch, token, d)
    output: Array = mixed @ np.asarray(W_O, dtype=np.float64)  # (batch, token, d)
    return output


def copying_weights(n_tokens: int, a: int, b: int, sharpness: float = 300.0) -> Weights:
    """Return weights with which two heads copy two tokens: every output is the value of `a`, then that of `b`.

    A token is its value, `n_tokens` numbers, followed by the one-hot code of its position, so d = 2 · `n_tokens`. Every
    query of the first head points at position `a`, every query of the second at `b`.

    One head cannot do this, whatever its weights. Its output is Σ_j α_j v_j W with weights α that sum to 1, so copying
    would need α_a W = A and α_b W = B, where A and B place a value in the first and in the second half. W would be a
    multiple of both, and they are orthogonal: at least half of the squared length is lost (`best_single_head_loss`).

    Args:
        n_tokens: length of the sequence.
        a: position that the first head copies.
        b: position that the second head copies.
        sharpness: inner product of a query with the key that it points at.
    """
    n, d = n_tokens, 2 * n_tokens
    W_Q, W_K, W_V = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    W_Q[n:, a] = W_Q[n:, n + b] = sharpness
    for start in (0, n):  # the columns of the two heads
        W_K[n:, start : start + n] = np.eye(n)
        W_V[:n, start : start + n] = np.eye(n)
    return Weights(W_Q, W_K, W_V, np.eye(d))


def best_single_head_loss(weight_a: float, weight_b: float) -> float:
    """Return the least share of the squared length that one head loses when it copies two tokens.

    ‖α_a W - A‖² + ‖α_b W - B‖² is least for W = (α_a A + α_b B) / (α_a² + α_b²). A and B have equal length and are
    orthogonal, so what is left is half of ‖A‖² + ‖B‖², for any two weights.
    """
    square = weight_a**2 + weight_b**2
    kept_a, kept_b = weight_a / square, weight_b / square
    residual_a = (weight_a * kept_a - 1) ** 2 + (weight_a * kept_b) ** 2
    residual_b = (weight_b * kept_b - 1) ** 2 + (weight_b * kept_a) ** 2
    return (residual_a + residual_b) / 2
