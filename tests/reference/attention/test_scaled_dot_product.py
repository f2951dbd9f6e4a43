"""Scaled dot-product and self-attention against torch, Monte Carlo and the audit's figures."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.attention.scaled_dot_product import (
    attention_scores,
    attention_weights,
    qk_moments,
    scaled_dot_product_attention,
    softmax,
    softmax_sensitivity,
)
from reference.attention.self_attention import self_attention


def normal(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return rng.standard_normal(shape)


def test_attention_equals_torch() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        n, m, d, dv = (int(size) for size in rng.integers(1, 9, 4))
        Q, K, V = normal(rng, n, d), normal(rng, m, d), normal(rng, m, dv)
        mask = rng.integers(2, size=(n, m))
        mask[np.arange(n), rng.integers(m, size=n)] = 0
        q, k, v = (torch.from_numpy(matrix)[None] for matrix in (Q, K, V))
        plain = torch.nn.functional.scaled_dot_product_attention(q, k, v)[0]
        masked = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(mask == 0)[None])[
            0
        ]
        np.testing.assert_allclose(scaled_dot_product_attention(Q, K, V), plain.numpy(), atol=1e-12)
        np.testing.assert_allclose(scaled_dot_product_attention(Q, K, V, mask), masked.numpy(), atol=1e-12)


def test_softmax_equals_torch() -> None:
    scores = np.array([[1000.0, 999.0, -1000.0], [0.0, 1.0, 2.0]])
    for axis in (0, 1):
        expected = torch.softmax(torch.from_numpy(scores), dim=axis).numpy()
        np.testing.assert_allclose(softmax(scores, axis), expected, atol=1e-15)


def test_scores_of_shared_matrices() -> None:
    rng = np.random.default_rng(11)
    X, W_Q, W_K = normal(rng, 6, 5), normal(rng, 5, 4), normal(rng, 5, 4)
    shared = attention_scores(X, W_Q, W_Q)
    np.testing.assert_allclose(shared, shared.T, atol=1e-14)
    assert np.linalg.eigvalsh(shared).min() > -1e-12
    distinct = attention_scores(X, W_Q, W_K)
    assert np.abs(distinct - distinct.T).max() > 0.1


class TestMomentsOfTheDotProduct:
    def test_monte_carlo(self) -> None:
        """The audit's case: h = 16, μ = 0.7, σ = 1.3; means 7.84 and 72.2. Five standard errors around both."""
        rng = np.random.default_rng(12)
        mean, variance = qk_moments(0.7, 1.3, 16)
        assert (mean, variance) == pytest.approx((7.84, 72.1968))
        samples = 200_000
        q, k = rng.normal(0.7, 1.3, (samples, 16)), rng.normal(0.7, 1.3, (samples, 16))
        products = (q * k).sum(axis=1)
        assert abs(products.mean() - mean) < 5 * np.sqrt(variance / samples)
        fourth = ((products - products.mean()) ** 4).mean()
        assert abs(products.var() - variance) < 5 * np.sqrt((fourth - products.var() ** 2) / samples)

    def test_exact_enumeration(self) -> None:
        """Components μ ± σ with equal chance have mean μ and variance σ²; all 4^h pairs of vectors, h = 3."""
        mu, sigma, h = 0.4, 1.1, 3
        corners = np.array(np.meshgrid(*[[mu - sigma, mu + sigma]] * h)).reshape(h, -1).T  # (2^h, h)
        products = (corners @ corners.T).ravel()
        mean, variance = qk_moments(mu, sigma, h)
        assert products.mean() == pytest.approx(mean, abs=1e-12)
        assert products.var() == pytest.approx(variance, abs=1e-12)


def test_unscaled_softmax_saturates() -> None:
    """Σ α(1-α) of 16 keys: about .70, .22, .05 unscaled for d = 4, 64, 1024, about .87 scaled."""
    rng = np.random.default_rng(13)
    unscaled, scaled = [], []
    for d in (4, 64, 1024):
        Q, K = normal(rng, 200, d), normal(rng, 16, d)
        unscaled.append(softmax_sensitivity(softmax(Q @ K.T)).mean())
        scaled.append(softmax_sensitivity(attention_weights(Q, K)).mean())
    assert unscaled[0] > 2 * unscaled[1] > 4 * unscaled[2]
    assert unscaled[2] < 0.13
    assert all(0.82 < value < 0.92 for value in scaled)


def test_softmax_sensitivity() -> None:
    scores = torch.tensor([0.3, -1.0, 2.0, 0.0], dtype=torch.float64)
    functional: Any = torch.autograd.functional
    jacobian = functional.jacobian(lambda s: torch.softmax(s, dim=-1), scores)
    assert softmax_sensitivity(softmax(scores.numpy())) == pytest.approx(float(jacobian.trace()), abs=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_torch(causal: bool) -> None:
    rng = np.random.default_rng(44)
    X = rng.standard_normal((6, 5))
    W_Q, W_K, W_V = (rng.standard_normal((5, 4)) for _ in range(3))
    x = torch.tensor(X, requires_grad=True)
    q, k, v = (x @ torch.tensor(W) for W in (W_Q, W_K, W_V))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    np.testing.assert_allclose(self_attention(X, W_Q, W_K, W_V, causal), expected.detach().numpy(), atol=1e-12)
    torch.autograd.backward(expected.square().sum())
    direction, step = rng.standard_normal(X.shape), 1e-6
    ahead, behind = ((self_attention(X + s * direction, W_Q, W_K, W_V, causal) ** 2).sum() for s in (step, -step))
    assert x.grad is not None
    assert (ahead - behind) / (2 * step) == pytest.approx(float((x.grad * torch.tensor(direction)).sum()), rel=1e-6)


def test_causal_self_attention() -> None:
    rng = np.random.default_rng(45)
    X, *W = rng.standard_normal((7, 4)), *rng.standard_normal((3, 4, 4))
    attention: Any = self_attention
    for changed in range(7):
        other = X.copy()
        other[changed] += 1.0
        for causal in (False, True):
            moved = np.abs(attention(other, *W, causal) - attention(X, *W, causal)).max(axis=1) > 1e-9
            assert moved.tolist() == [not causal or t >= changed for t in range(7)]
