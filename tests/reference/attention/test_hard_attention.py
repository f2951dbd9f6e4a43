"""Argmax attention and its gradients; copying, averaging and extracting values, against torch and random subspaces."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.hard_attention import hard_attention
from reference.attention.scaled_dot_product import attention_weights, scaled_dot_product_attention
from reference.attention.superposition import (
    averaging_query,
    averaging_weight,
    copy_query,
    extraction_matrix,
    query_weights,
)


@pytest.mark.parametrize(("n", "h", "d"), [(1, 1, 1), (2, 3, 4), (7, 5, 2), (30, 16, 8)])
def test_hard_attention_is_the_limit_of_softmax(n: int, h: int, d: int) -> None:
    rng = np.random.default_rng(n)
    q, K, V = rng.standard_normal(h), rng.standard_normal((n, h)), rng.standard_normal((n, d))
    sharp = scaled_dot_product_attention(1e6 * q[None], K, V)[0]
    np.testing.assert_allclose(hard_attention(q, K, V), sharp, atol=1e-12)


def test_hard_attention_ties() -> None:
    K = [[0, 1], [1, 0], [1, 0], [1, 5]]
    assert hard_attention([1, 0], K, [[1], [2], [3], [4]]).tolist() == [2]


def test_hard_attention_finite_differences() -> None:
    rng = np.random.default_rng(3)
    q, K, V = rng.standard_normal(4), rng.standard_normal((6, 4)), rng.standard_normal((6, 3))
    base, step = hard_attention(q, K, V), 1e-6
    for i in range(4):
        assert (hard_attention(q + step * np.eye(4)[i], K, V) == base).all()
    for row in range(6):
        for column in range(4):
            moved = K.copy()
            moved[row, column] += step
            assert (hard_attention(q, moved, V) == base).all()
    for row in range(6):
        moved = V.copy()
        moved[row] += step
        gradient = (hard_attention(q, K, moved) - base) / step
        np.testing.assert_allclose(gradient, float(row == (K @ q).argmax()), atol=1e-9)


def test_hard_attention_autograd() -> None:
    """A one-hot weight from argmax cuts the graph: V gets a gradient, q and K get none."""
    generator = torch.Generator().manual_seed(0)
    q, K, V = (
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in ((4,), (6, 4), (6, 3))
    )
    weights = torch.nn.functional.one_hot((K @ q).argmax(), 6).double()
    output = weights @ V
    torch.autograd.backward(output.sum())
    assert q.grad is None and K.grad is None
    assert V.grad is not None and V.grad.sum() == 3 and (V.grad.sum(dim=1) != 0).sum() == 1
    expected = hard_attention(q.detach().numpy(), K.detach().numpy(), V.detach().numpy())
    np.testing.assert_array_equal(output.detach().numpy(), expected)


Array = NDArray[np.float64]


def torch_attention(q: Array, K: Array, V: Array) -> Array:
    query, keys, values = (torch.from_numpy(x)[None] for x in (q[None], K, V))
    output: Array = torch.nn.functional.scaled_dot_product_attention(query, keys, values)[0, 0].numpy()
    return output


def orthonormal(rng: np.random.Generator, n: int, h: int) -> Array:
    return np.linalg.qr(rng.standard_normal((h, n)))[0].T


@pytest.mark.parametrize(("n", "h"), [(1, 4), (2, 2), (5, 3), (64, 256), (64, 8)])
def test_copy_query(n: int, h: int) -> None:
    rng = np.random.default_rng(n + h)
    K, V = rng.standard_normal((n, h)), rng.standard_normal((n, 3))
    K /= np.linalg.norm(K, axis=1, keepdims=True)
    for j in range(0, n, 7):
        np.testing.assert_allclose(torch_attention(copy_query(K, j), K, V), V[j], atol=1e-4)


def test_copy_query_of_a_hidden_key() -> None:
    with pytest.raises(ValueError, match="k_0 is not the key most similar to itself"):
        copy_query([[1.0, 0.0], [2.0, 0.0]], 0)


@pytest.mark.parametrize(("n", "h"), [(2, 2), (3, 4), (10, 64), (64, 64), (64, 256)])
def test_averaging_query(n: int, h: int) -> None:
    rng = np.random.default_rng(n * h)
    K, V = orthonormal(rng, n, h), rng.standard_normal((n, 5))
    q = averaging_query(K, 0, n - 1)
    np.testing.assert_allclose(torch_attention(q, K, V), (V[0] + V[-1]) / 2, atol=1e-5)


@pytest.mark.parametrize(("beta", "h", "n"), [(1, 64, 10), (8, 64, 10), (1, 768, 512), (300, 256, 64), (5, 2, 2)])
def test_averaging_weight(beta: float, h: int, n: int) -> None:
    K = torch.eye(n, dtype=torch.float64)
    q = beta * (K[0] + K[1])
    weights = torch.nn.functional.scaled_dot_product_attention(q[None, None], K[None], K[None], scale=h**-0.5)[0, 0]
    assert weights[0] == weights[1] == pytest.approx(averaging_weight(beta, h, n))


@pytest.mark.parametrize(("d", "m", "p"), [(1, 1, 0), (4, 1, 3), (6, 2, 2), (9, 4, 5), (16, 8, 3)])
def test_extraction_matrix(d: int, m: int, p: int) -> None:
    rng = np.random.default_rng(d)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A, B = basis[:, :m], basis[:, m : m + p]
    M = extraction_matrix(A)
    v_a, v_b = A @ rng.standard_normal((m, 20)), B @ rng.standard_normal((p, 20))
    np.testing.assert_allclose(M @ (v_a + v_b) / 2, v_a, atol=1e-12)
    np.testing.assert_allclose(M @ v_b, 0, atol=1e-12)
    projection = torch.linalg.lstsq(torch.from_numpy(A), torch.eye(d, dtype=torch.float64)).solution.numpy()
    np.testing.assert_allclose(M, 2 * A @ projection, atol=1e-12)  # A A⁺, by least squares


def test_extraction_matrix_is_not_unique() -> None:
    """What M does off A and B is free: 2AAᵀ + X(I - AAᵀ - BBᵀ) for any X, if A and B do not fill the space."""
    rng = np.random.default_rng(5)
    basis = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    A, B = basis[:, :2], basis[:, 2:5]
    M = extraction_matrix(A) + rng.standard_normal((7, 7)) @ (np.eye(7) - A @ A.T - B @ B.T)
    v_a, v_b = A @ rng.standard_normal(2), B @ rng.standard_normal(3)
    np.testing.assert_allclose(M @ (v_a + v_b) / 2, v_a, atol=1e-12)
    assert np.abs(M - extraction_matrix(A)).max() > 0.1


def test_query_weights() -> None:
    rng = np.random.default_rng(8)
    for scale in (0.0, 1e-300, 1e-3, 1.0, 50.0):
        q, K = scale * rng.standard_normal(6), rng.standard_normal((9, 6))
        np.testing.assert_allclose(query_weights(q, K), attention_weights(q[None], K)[0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("beta", [1e3, 1e9, 1e20, 1e150, 1e307])
def test_query_weights_of_a_huge_query(beta: float) -> None:
    K = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    np.testing.assert_allclose(query_weights(beta / 3 * (K[1] + K[3]), K), [0, 0.5, 0, 0.5], rtol=0, atol=1e-60)
    np.testing.assert_allclose(query_weights(beta * K[2], K), [0, 0, 1, 0], rtol=0, atol=1e-60)
