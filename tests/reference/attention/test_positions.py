"""Positions in attention: dot products term by term, and relative biases against concatenation and enumeration."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.position_terms import cross_terms, dot_add, dot_concat
from reference.attention.relative_bias import (
    attention_with_bias,
    position_bias,
    relative_bias_params,
    unnormalised_attention_with_bias,
)


def test_dot_products_term_by_term() -> None:
    rng = np.random.default_rng(1)
    for d in (1, 4, 9):
        vectors = rng.standard_normal((4, d))
        x1, p1, x2, p2 = ([float(entry) for entry in vector] for vector in vectors)
        words = sum(a * b for a, b in zip(x1, x2, strict=True))
        positions = sum(a * b for a, b in zip(p1, p2, strict=True))
        crossed = sum(a * b for a, b in zip(x1 + p1, p2 + x2, strict=True))
        np.testing.assert_allclose(dot_concat(x1, p1, x2, p2), words + positions)
        np.testing.assert_allclose(cross_terms(x1, p1, x2, p2), crossed)
        np.testing.assert_allclose(dot_add(x1, p1, x2, p2), words + positions + crossed)


def test_concatenated_positions_of_another_size() -> None:
    assert dot_concat([1, 2], [3], [4, 5], [6]) == 1 * 4 + 2 * 5 + 3 * 6


def test_moments_of_cross_terms() -> None:
    """For independent entries of variance 1: mean 0 and variance 2d, next to x1·x1 of about d."""
    rng = np.random.default_rng(2)
    for d in (8, 128):
        draws = rng.standard_normal((4, 20_000, d))
        terms = np.array([cross_terms(*vectors) for vectors in draws.transpose(1, 0, 2)])
        assert abs(terms.mean()) < 5 * np.sqrt(2 * d / len(terms))
        np.testing.assert_allclose(terms.var(), 2 * d, rtol=0.06)


Array = NDArray[np.float64]


def matrices(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), rng.standard_normal((m, dv))


def torch_attention(Q: Array, K: Array, V: Array, mask: Array | None = None, scale: float = 1.0) -> Array:
    q, k, v = (torch.from_numpy(matrix)[None] for matrix in (Q, K, V))
    bias = None if mask is None else torch.from_numpy(mask)[None]
    result: Array = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)[0].numpy()
    return result


def test_bias_equals_torch_float_mask() -> None:
    """torch adds a float mask to the scaled scores, which is what a bias is."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, m, d, dv = (int(size) for size in rng.integers(1, 8, 4))
        Q, K, V = matrices(rng, n, m, d, dv)
        Pi = rng.standard_normal((n, m))
        for scale in (1.0, d**-0.5):
            expected = torch_attention(Q, K, V, Pi, scale)
            np.testing.assert_allclose(attention_with_bias(Q, K, V, Pi, scale), expected, atol=1e-12)


def test_bias_equals_concatenated_positions() -> None:
    """004-c(i): Π = Q_pos K_posᵀ, for any dimension of the position embeddings."""
    rng = np.random.default_rng(2)
    for d_pos in (1, 3, 8):
        Q, K, V = matrices(rng, 5, 7, 4, 3)
        Q_pos, K_pos = rng.standard_normal((5, d_pos)), rng.standard_normal((7, d_pos))
        concatenated = torch_attention(np.hstack([Q, Q_pos]), np.hstack([K, K_pos]), V)
        biased = attention_with_bias(Q, K, V, position_bias(Q_pos, K_pos))
        np.testing.assert_allclose(biased, concatenated, atol=1e-12)


@pytest.mark.parametrize("T", range(1, 9))
@pytest.mark.parametrize("m", [1, 3])
def test_relative_bias_params(T: int, m: int) -> None:
    pairs = [(i, j) for i in range(T) for j in range(T)]
    assert relative_bias_params(T, m) == m * len({i - j for i, j in pairs}) == (2 * T - 1) * m
    assert relative_bias_params(T, m, causal=True) == m * len({i - j for i, j in pairs if j <= i}) == T * m
    for clip in range(T + 3):
        clipped = {max(-clip, min(clip, i - j)) for i, j in pairs}
        assert relative_bias_params(T, m, clip=clip) == m * len(clipped)
        past = {min(clip, i - j) for i, j in pairs if j <= i}
        assert relative_bias_params(T, m, causal=True, clip=clip) == m * len(past)
        if clip < T:
            assert relative_bias_params(T, m, clip=clip) == (2 * clip + 1) * m


class TestErrata:
    """What the source prints for (c)."""

    def test_printed_sum_is_not_normalised(self) -> None:
        """Each row of a_ij = Σ_j e^{π_ij} e^{q_i k_j} v_j lacks the denominator of softmax."""
        rng = np.random.default_rng(4)
        Q, K, V = matrices(rng, 4, 5, 3, 2)
        Pi = rng.standard_normal((4, 5))
        printed = unnormalised_attention_with_bias(Q, K, V, Pi)
        denominator = unnormalised_attention_with_bias(Q, K, np.ones((5, 1)), Pi)
        np.testing.assert_allclose(printed / denominator, attention_with_bias(Q, K, V, Pi), atol=1e-12)
        np.testing.assert_allclose(attention_with_bias(Q, K, np.ones((5, 1)), Pi), 1)
        assert (denominator > 1.5).all()

    def test_concatenating_changes_the_scale(self) -> None:
        """The width grows from d to d + d_pos, so 1/√d must be kept by hand for the identity to hold."""
        rng = np.random.default_rng(6)
        Q, K, V = matrices(rng, 4, 4, 3, 2)
        Q_pos, K_pos = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
        wide = np.hstack([Q, Q_pos]), np.hstack([K, K_pos])
        Pi = position_bias(Q_pos, K_pos)
        own_scale, kept_scale = torch_attention(*wide, V, scale=6**-0.5), torch_attention(*wide, V, scale=3**-0.5)
        biased = attention_with_bias(Q, K, V, Pi * 3**-0.5, scale=3**-0.5)
        np.testing.assert_allclose(biased, kept_scale, atol=1e-12)
        assert np.abs(biased - own_scale).max() > 1e-2
