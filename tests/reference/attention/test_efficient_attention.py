"""reference/attention/linear.py and reference/attention/groups.py against the quadratic forms that they replace."""

import tracemalloc

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.groups import block_diagonal_mask, group_attention, score_entries
from reference.attention.linear import (
    causal_linear_attention,
    elu_plus_one,
    linear_attention,
    unnormalised_linear_attention,
)
from reference.attention.scaled_dot_product import scaled_dot_product_attention

Array = NDArray[np.float64]


def random_matrices(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), rng.standard_normal((m, dv))


def kernel_attention(Q: Array, K: Array, V: Array, visible: Array) -> Array:
    """The quadratic form with similarity φ(q)·φ(k), in torch."""
    phi = [torch.nn.functional.elu(torch.from_numpy(m)) + 1 for m in (Q, K)]
    similarity = phi[0] @ phi[1].T * torch.from_numpy(visible)
    weights = similarity / similarity.sum(dim=1, keepdim=True)
    result: Array = (weights @ torch.from_numpy(V)).numpy()
    return result


def test_feature_map() -> None:
    x = np.linspace(-800, 800, 41)
    np.testing.assert_allclose(elu_plus_one(x), (torch.nn.functional.elu(torch.from_numpy(x)) + 1).numpy(), atol=1e-12)
    assert (elu_plus_one(np.linspace(-30, 30, 61)) > 0).all()


def test_linear_attention_equals_kernel_attention() -> None:
    rng = np.random.default_rng(14)
    for _ in range(20):
        n, m, d, dv = (int(size) for size in rng.integers(1, 9, 4))
        Q, K, V = random_matrices(rng, n, m, d, dv)
        expected = kernel_attention(Q, K, V, np.ones((n, m)))
        np.testing.assert_allclose(linear_attention(Q, K, V, elu_plus_one), expected, atol=1e-12)


def test_causal_linear_attention() -> None:
    rng = np.random.default_rng(15)
    Q, K, V = random_matrices(rng, 9, 9, 4, 3)
    ours = causal_linear_attention(Q, K, V, elu_plus_one)
    np.testing.assert_allclose(ours, kernel_attention(Q, K, V, np.tril(np.ones((9, 9)))), atol=1e-12)
    K[5:], V[5:] = 0, 0
    np.testing.assert_array_equal(causal_linear_attention(Q, K, V, elu_plus_one)[:5], ours[:5])


def test_printed_formula_lacks_the_normaliser() -> None:
    """The source prints φ(Q)(φ(K)ᵀV); each of its rows is too large by Σ φ(q)·φ(k)."""
    rng = np.random.default_rng(1)
    Q, K, V = random_matrices(rng, 6, 6, 4, 4)
    normaliser = elu_plus_one(Q) @ elu_plus_one(K).sum(axis=0)
    printed = unnormalised_linear_attention(Q, K, V, elu_plus_one)
    np.testing.assert_allclose(printed / normaliser[:, None], linear_attention(Q, K, V, elu_plus_one), atol=1e-12)
    assert normaliser.min() > 2


def test_linear_memory() -> None:
    """Peak allocation for 2n tokens is at most 2.2 times that for n: no (query, key) matrix is made."""
    rng = np.random.default_rng(17)
    peaks = []
    for n in (4000, 8000):
        Q, K, V = random_matrices(rng, n, n, 4, 4)
        tracemalloc.start()
        linear_attention(Q, K, V, elu_plus_one)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.2 * peaks[0]
    assert peaks[1] < 8000 * 8000  # bytes; a matrix of scores alone would have eight times as many


def test_group_attention() -> None:
    rng = np.random.default_rng(18)
    for n, groups in [(12, 3), (12, 1), (12, 12), (8, 2), (1, 1)]:
        Q, K, V = random_matrices(rng, n, n, 5, 3)
        mask = block_diagonal_mask(n, groups)
        q, k, v = (torch.from_numpy(matrix)[None] for matrix in (Q, K, V))
        expected = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=torch.from_numpy(mask == 0)[None]
        )[0]
        np.testing.assert_allclose(group_attention(Q, K, V, groups), expected.numpy(), atol=1e-12)
        np.testing.assert_allclose(
            group_attention(Q, K, V, groups), scaled_dot_product_attention(Q, K, V, mask), atol=1e-12
        )
        assert score_entries(n, groups) == (mask == 0).sum() == n * n // groups


@pytest.mark.parametrize("groups", [0, 5, 13])
def test_invalid_groups(groups: int) -> None:
    with pytest.raises(ValueError, match="cannot be divided"):
        group_attention(np.ones((12, 2)), np.ones((12, 2)), np.ones((12, 2)), groups)
