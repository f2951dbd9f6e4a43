"""One head of self-attention, with or without the future: Vaswani et al. (2017), section 3.2.3; Devlin et al. (2019).

Attention(X W_Q, X W_K, X W_V)      BERT: every token sees every token; GPT: token t sees only tokens 0 … t
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.attention.scaled_dot_product import Array, scaled_dot_product_attention


def self_attention(X: ArrayLike, W_Q: ArrayLike, W_K: ArrayLike, W_V: ArrayLike, causal: bool = False) -> Array:
    """Return (token, d_v) for X (token, d), W_Q and W_K (d, d_k), W_V (d, d_v). Row vectors: queries are X W_Q."""
    x = np.asarray(X, dtype=np.float64)
    queries, keys, values = (x @ np.asarray(W, dtype=np.float64) for W in (W_Q, W_K, W_V))
    mask = np.triu(np.ones((len(x), len(x))), k=1) if causal else None  # (query, key), 1 = masked
    return scaled_dot_product_attention(queries, keys, values, mask)
