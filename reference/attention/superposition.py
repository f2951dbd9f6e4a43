"""Copying and averaging values with the attention of Vaswani et al. (2017), equation 1, and undoing an average.

    copying:    q = β k_j                α_i/α_j = exp(-β (k_j·k_j - k_j·k_i)/√h)
    averaging:  q = β (k_a + k_b)        α_a = α_b = e^{β/√h} / (2 e^{β/√h} + n - 2)      for orthonormal keys
    extracting: M = 2 A Aᵀ               M (v_a + v_b)/2 = v_a for v_a in A, v_b orthogonal to A

The scale 1/√h of attention is fixed, so it is β that has to grow, like √h ln n: with β = 1, h = 64 and n = 10 the two
keys get a weight of 0.11 each. M is not unique: 2 A Aᵀ + X (I - A Aᵀ - B Bᵀ) does the same for every X.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def query_weights(q: ArrayLike, K: ArrayLike) -> Array:
    """Return softmax(K q / √h) for one query (h,) and keys (n, h), correct for every finite query, however large.

    The query is divided by its largest component before the products are summed, each sum is rounded once, and the
    factor comes back after the largest score is subtracted: keys that tie for a small query tie for a large one.
    """
    query, keys = np.asarray(q, dtype=np.float64), np.asarray(K, dtype=np.float64)
    size = np.abs(query).max()
    products = keys * (query / size if size else query)  # (n, h)
    scores = np.array([math.fsum(row) for row in products.tolist()])  # (n,)
    with np.errstate(over="ignore"):  # keys that lose by far get -inf
        exponents = (scores - scores.max()) * (size / math.sqrt(keys.shape[1]))
    exponentials = np.exp(exponents)
    weights: Array = exponentials / exponentials.sum()  # (n,)
    return weights


def copy_query(K: ArrayLike, j: int, lost: float = 1e-6) -> Array:
    """Return a query for which all keys but k_j together get at most the weight `lost`.

    Args:
        K: keys, shape (n, h); k_j·k_j must be larger than every other k_j·k_i, as it is for distinct keys of one norm.
        j: which value to copy, from 0.
        lost: the weight that the others may keep.

    Returns:
        Shape (h,).

    Raises:
        ValueError: another key has as large an inner product with k_j as k_j itself.
    """
    keys = np.asarray(K, dtype=np.float64)
    n, h = keys.shape
    products = keys @ keys[j]  # (n,)
    margin = products[j] - np.delete(products, j).max(initial=-np.inf)
    if margin <= 0:
        raise ValueError(f"copy_query: k_{j} is not the key most similar to itself; no multiple of it singles it out.")
    beta = np.sqrt(h) * np.log(max(n - 1, 1) / lost) / margin if np.isfinite(margin) else 1.0
    query: Array = beta * keys[j]  # (h,)
    return query


def extraction_matrix(A_basis: ArrayLike) -> Array:
    """Return M = 2 A Aᵀ (d, d), twice the projection onto A; A_basis (d, m) holds an orthonormal basis as columns."""
    A = np.asarray(A_basis, dtype=np.float64)
    M: Array = 2 * A @ A.T  # (d, d)
    return M


def averaging_query(K: ArrayLike, a: int, b: int, lost: float = 1e-6) -> Array:
    """Return β (k_a + k_b) with β = √h ln((n - 2)/lost): all other keys together get less than half of `lost`.

    Args:
        K: orthonormal keys, shape (n, h).
        a, b: the two values to average, from 0.
        lost: twice the weight that the others may keep.

    Returns:
        Shape (h,).
    """
    keys = np.asarray(K, dtype=np.float64)
    n, h = keys.shape
    beta = np.sqrt(h) * np.log(max(n - 2, 1) / lost)
    query: Array = beta * (keys[a] + keys[b])  # (h,)
    return query


def averaging_weight(beta: float, h: int, n: int) -> float:
    """Return α_a = α_b for the query β (k_a + k_b) and n orthonormal keys of h components.

    It is e^s/(2 e^s + n - 2) with s = β/√h.
    """
    return float(1 / (2 + (n - 2) * np.exp(-beta / np.sqrt(h))))
