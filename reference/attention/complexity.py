"""What attention costs: Vaswani et al. (2017), "Attention Is All You Need", section 4 and table 1.

    scores and values:  queries · keys · k multiplications for Q Kᵀ, as many for the weights times V
    projections:        k² for each vector that becomes a query, key, value or output

Encoder self-attention O(M² k), cross-attention O(M N k), decoder self-attention O(N² k); with projections
O(M² k + M k²) and so on. A causal mask saves half of the decoder's scores and leaves the order as it is.
"""


def attention_flops(M: int, N: int, k: int, projections: bool = False) -> tuple[int, int, int]:
    """Count the multiplications of one layer with one head.

    Args:
        M: length of the input sequence.
        N: length of the output sequence.
        k: hidden dimension.
        projections: count those of queries, keys, values and outputs as well.

    Returns:
        Those of encoder self-attention, cross-attention and decoder self-attention.
    """
    return (
        attention_multiplications(M, M, k, projections),
        attention_multiplications(N, M, k, projections),
        attention_multiplications(N, N, k, projections),
    )


def attention_multiplications(queries: int, keys: int, k: int, projections: bool = False) -> int:
    """Count 2 · queries · keys · k for scores and values; (2 · queries + 2 · keys) k² more for the projections."""
    return 2 * queries * keys * k + (2 * queries + 2 * keys) * k**2 * projections
