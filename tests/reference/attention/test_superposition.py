"""Copying, averaging and extracting, against torch's attention, the closed form and random subspaces."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.scaled_dot_product import attention_weights
from reference.attention.superposition import (
    averaging_query,
    averaging_weight,
    copy_query,
    extraction_matrix,
    query_weights,
)

Array = NDArray[np.float64]


def torch_attention(q: Array, K: Array, V: Array) -> Array:
    query, keys, values = (torch.from_numpy(x)[None] for x in (q[None], K, V))
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values)[0, 0].numpy()


def orthonormal(rng: np.random.Generator, n: int, h: int) -> Array:
    return np.linalg.qr(rng.standard_normal((h, n)))[0].T


@pytest.mark.parametrize(("n", "h"), [(1, 4), (2, 2), (5, 3), (64, 256), (64, 8)])
def test_a_value_is_copied(n: int, h: int) -> None:
    rng = np.random.default_rng(n + h)
    K, V = rng.standard_normal((n, h)), rng.standard_normal((n, 3))
    K /= np.linalg.norm(K, axis=1, keepdims=True)
    for j in range(0, n, 7):
        np.testing.assert_allclose(torch_attention(copy_query(K, j), K, V), V[j], atol=1e-4)


def test_a_key_hidden_behind_a_longer_one_cannot_be_singled_out_by_its_own_direction() -> None:
    with pytest.raises(ValueError, match="k_0 is not the key most similar to itself"):
        copy_query([[1.0, 0.0], [2.0, 0.0]], 0)


@pytest.mark.parametrize(("n", "h"), [(2, 2), (3, 4), (10, 64), (64, 64), (64, 256)])
def test_two_values_are_averaged(n: int, h: int) -> None:
    rng = np.random.default_rng(n * h)
    K, V = orthonormal(rng, n, h), rng.standard_normal((n, 5))
    q = averaging_query(K, 0, n - 1)
    np.testing.assert_allclose(torch_attention(q, K, V), (V[0] + V[-1]) / 2, atol=1e-5)


@pytest.mark.parametrize(("beta", "h", "n"), [(1, 64, 10), (8, 64, 10), (1, 768, 512), (300, 256, 64), (5, 2, 2)])
def test_closed_form_of_the_weight(beta: float, h: int, n: int) -> None:
    K = torch.eye(n, dtype=torch.float64)
    q = beta * (K[0] + K[1])
    weights = torch.nn.functional.scaled_dot_product_attention(q[None, None], K[None], K[None], scale=h**-0.5)[0, 0]
    assert weights[0] == weights[1] == pytest.approx(averaging_weight(beta, h, n))


@pytest.mark.parametrize(("d", "m", "p"), [(1, 1, 0), (4, 1, 3), (6, 2, 2), (9, 4, 5), (16, 8, 3)])
def test_v_a_comes_back_from_the_average(d: int, m: int, p: int) -> None:
    rng = np.random.default_rng(d)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A, B = basis[:, :m], basis[:, m : m + p]
    M = extraction_matrix(A)
    v_a, v_b = A @ rng.standard_normal((m, 20)), B @ rng.standard_normal((p, 20))
    np.testing.assert_allclose(M @ (v_a + v_b) / 2, v_a, atol=1e-12)
    np.testing.assert_allclose(M @ v_b, 0, atol=1e-12)
    projection = torch.linalg.lstsq(torch.from_numpy(A), torch.eye(d, dtype=torch.float64)).solution.numpy()
    np.testing.assert_allclose(M, 2 * A @ projection, atol=1e-12)  # A A⁺, by least squares


def test_m_is_not_unique() -> None:
    """What M does off A and B is free: 2AAᵀ + X(I - AAᵀ - BBᵀ) for any X, if A and B do not fill the space."""
    rng = np.random.default_rng(5)
    basis = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    A, B = basis[:, :2], basis[:, 2:5]
    M = extraction_matrix(A) + rng.standard_normal((7, 7)) @ (np.eye(7) - A @ A.T - B @ B.T)
    v_a, v_b = A @ rng.standard_normal(2), B @ rng.standard_normal(3)
    np.testing.assert_allclose(M @ (v_a + v_b) / 2, v_a, atol=1e-12)
    assert np.abs(M - extraction_matrix(A)).max() > 0.1


def test_weights_of_one_query_are_those_of_attention() -> None:
    rng = np.random.default_rng(8)
    for scale in (0.0, 1e-300, 1e-3, 1.0, 50.0):
        q, K = scale * rng.standard_normal(6), rng.standard_normal((9, 6))
        np.testing.assert_allclose(query_weights(q, K), attention_weights(q[None], K)[0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("beta", [1e3, 1e9, 1e20, 1e150, 1e307])
def test_a_huge_query_neither_overflows_nor_breaks_a_tie(beta: float) -> None:
    K = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    np.testing.assert_allclose(query_weights(beta / 3 * (K[1] + K[3]), K), [0, 0.5, 0, 0.5], rtol=0, atol=1e-60)
    np.testing.assert_allclose(query_weights(beta * K[2], K), [0, 0, 1, 0], rtol=0, atol=1e-60)
