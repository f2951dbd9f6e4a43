"""reference/attention/complexity.py against counted multiplications: by plain loops and by torch's own counter."""

import itertools

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from reference.attention.complexity import attention_flops, attention_multiplications


def counted_by_loops(queries: int, keys: int, k: int) -> int:
    """Every multiplication of Q Kᵀ and of the weights times V, one by one."""
    count = 0
    for _ in itertools.product(range(queries), range(keys), range(k)):
        count += 1  # q[i, c] * k[j, c]
    for _ in itertools.product(range(queries), range(k), range(keys)):
        count += 1  # weights[i, j] * v[j, c]
    return count


def counted_by_torch(queries: int, keys: int, k: int) -> int:
    """Attention with its projections; torch counts a multiplication and an addition as two."""
    X, Y = torch.ones(queries, k), torch.ones(keys, k)
    W_Q, W_K, W_V, W_O = (torch.eye(k) for _ in range(4))
    with FlopCounterMode(display=False) as counter:
        scores = (X @ W_Q) @ (Y @ W_K).T
        scores.softmax(1) @ (Y @ W_V) @ W_O
    return int(counter.get_total_flops()) // 2


def test_counts_equal_loops_and_torch() -> None:
    for queries, keys, k in [(1, 1, 1), (2, 5, 3), (7, 4, 6), (3, 3, 8)]:
        assert attention_multiplications(queries, keys, k) == counted_by_loops(queries, keys, k)
        assert attention_multiplications(queries, keys, k, projections=True) == counted_by_torch(queries, keys, k)


def test_the_three_parts_take_their_own_lengths() -> None:
    encoder, cross, decoder = attention_flops(5, 3, 4)
    assert (encoder, cross, decoder) == tuple(counted_by_loops(*sizes, 4) for sizes in [(5, 5), (3, 5), (3, 3)])


def test_polynomial_fit_of_the_counts() -> None:
    """The counts are 2M²k, 2MNk and 2N²k, and with projections 4Mk², 2(M + N)k² and 4Nk² more; nothing else fits."""
    grid = list(itertools.product((1, 2, 5), (1, 3, 4), (1, 2, 7)))
    powers = list(itertools.product(range(3), repeat=3))
    design = np.array([[M**a * N**b * k**c for a, b, c in powers] for M, N, k in grid], dtype=float)
    expected = [
        [{(2, 0, 1): 2}, {(1, 1, 1): 2}, {(0, 2, 1): 2}],
        [{(2, 0, 1): 2, (1, 0, 2): 4}, {(1, 1, 1): 2, (1, 0, 2): 2, (0, 1, 2): 2}, {(0, 2, 1): 2, (0, 1, 2): 4}],
    ]
    for projections in (False, True):
        counts = np.array([attention_flops(*sizes, projections) for sizes in grid], dtype=float)
        coefficients = np.linalg.solve(design, counts).round(6)
        for column, terms in enumerate(expected[projections]):
            found = {power: c for power, c in zip(powers, coefficients[:, column], strict=True) if c}
            assert found == terms


def test_a_causal_mask_leaves_the_order_as_it_is() -> None:
    """Half of the scores remain: N(N + 1)/2 pairs for N², so the ratio tends to a constant."""
    for N in (10, 1000):
        visible = N * (N + 1) // 2
        assert 2 * visible * 6 / attention_flops(1, N, 6)[2] == (N + 1) / (2 * N)
