"""Linear attention: Katharopoulos, Vyas, Pappas and Fleuret (2020), "Transformers are RNNs", sections 3.2 and 3.3.

    V'_i = φ(q_i)ᵀ Σ_j φ(k_j) v_jᵀ / (φ(q_i)ᵀ Σ_j φ(k_j))     sums over all j, or over j ≤ i if causal

The sums do not depend on i (or grow with it by one term), so time is O(n d d_v) and no (query, key) matrix exists.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
FeatureMap = Callable[[Array], ArrayLike]
"""From (token, d) to positive features (token, d_feature)."""


def elu_plus_one(x: ArrayLike) -> Array:
    """Apply the paper's feature map (equation 7): elu(x) + 1, so x + 1 above zero and exp(x) below."""
    values = np.asarray(x, dtype=np.float64)
    return np.where(values > 0, values + 1, np.exp(np.minimum(values, 0)))


def linear_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, feature_map: FeatureMap) -> Array:
    """Return normalised linear attention (query, d_v); Q (query, d), K (key, d), V (key, d_v)."""
    phi_q, phi_k, values = _features(Q, K, V, feature_map)
    memory = phi_k.T @ values  # (d_feature, d_v)
    normaliser = phi_q @ phi_k.sum(axis=0)  # (query,)
    output: Array = phi_q @ memory / normaliser[:, None]  # (query, d_v)
    return output


def causal_linear_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, feature_map: FeatureMap) -> Array:
    """Return linear attention in which position i sees keys 0 … i, (token, d_v).

    Q and K have shape (token, d), V has shape (token, d_v).
    """
    phi_q, phi_k, values = _features(Q, K, V, feature_map)
    memory = np.zeros((phi_k.shape[1], values.shape[1]))  # (d_feature, d_v): Σ_{j ≤ i} φ(k_j) v_jᵀ
    normaliser = np.zeros(phi_k.shape[1])  # (d_feature,): Σ_{j ≤ i} φ(k_j)
    output = np.empty((len(phi_q), values.shape[1]))  # (token, d_v)
    for i, (q, k, v) in enumerate(zip(phi_q, phi_k, values, strict=True)):
        memory += np.outer(k, v)
        normaliser += k
        output[i] = q @ memory / (q @ normaliser)
    return output


def unnormalised_linear_attention(Q: ArrayLike, K: ArrayLike, V: ArrayLike, feature_map: FeatureMap) -> Array:
    """Return φ(Q)(φ(K)ᵀV), as the source prints it: only the numerator, not a weighted mean of the values."""
    phi_q, phi_k, values = _features(Q, K, V, feature_map)
    numerator: Array = phi_q @ (phi_k.T @ values)  # (query, d_v)
    return numerator


def _features(Q: ArrayLike, K: ArrayLike, V: ArrayLike, feature_map: FeatureMap) -> tuple[Array, Array, Array]:
    q, k = np.asarray(Q, dtype=np.float64), np.asarray(K, dtype=np.float64)
    phi_q = np.asarray(feature_map(q), dtype=np.float64)  # (query, d_feature)
    phi_k = np.asarray(feature_map(k), dtype=np.float64)  # (key, d_feature)
    return phi_q, phi_k, np.asarray(V, dtype=np.float64)
