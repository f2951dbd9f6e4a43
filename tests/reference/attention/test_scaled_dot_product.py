"""reference/attention/scaled_dot_product.py against torch, Monte Carlo and the audit's figures."""

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


def normal(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return rng.standard_normal(shape)


def test_equals_torch_with_and_without_a_mask() -> None:
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


def test_rows_of_weights_sum_to_one_and_masked_weights_are_zero() -> None:
    rng = np.random.default_rng(9)
    mask = np.triu(np.ones((6, 6), dtype=int), 1)
    weights = attention_weights(normal(rng, 6, 4), normal(rng, 6, 4), mask)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-15)
    assert (weights[mask == 1] == 0).all()


def test_permuting_keys_and_values_together_changes_nothing() -> None:
    rng = np.random.default_rng(10)
    Q, K, V, order = normal(rng, 5, 3), normal(rng, 7, 3), normal(rng, 7, 2), rng.permutation(7)
    np.testing.assert_allclose(
        scaled_dot_product_attention(Q, K[order], V[order]), scaled_dot_product_attention(Q, K, V), atol=1e-14
    )


def test_softmax_is_stable_and_equals_torch_along_both_axes() -> None:
    scores = np.array([[1000.0, 999.0, -1000.0], [0.0, 1.0, 2.0]])
    for axis in (0, 1):
        expected = torch.softmax(torch.from_numpy(scores), dim=axis).numpy()
        np.testing.assert_allclose(softmax(scores, axis), expected, atol=1e-15)


def test_shared_matrices_give_symmetric_positive_semi_definite_scores_and_distinct_ones_do_not() -> None:
    rng = np.random.default_rng(11)
    X, W_Q, W_K = normal(rng, 6, 5), normal(rng, 5, 4), normal(rng, 5, 4)
    shared = attention_scores(X, W_Q, W_Q)
    np.testing.assert_allclose(shared, shared.T, atol=1e-14)
    assert np.linalg.eigvalsh(shared).min() > -1e-12
    distinct = attention_scores(X, W_Q, W_K)
    assert np.abs(distinct - distinct.T).max() > 0.1


class TestMomentsOfTheDotProduct:
    def test_against_monte_carlo(self) -> None:
        """The audit's case: h = 16, μ = 0.7, σ = 1.3; means 7.84 and 72.2. Five standard errors around both."""
        rng = np.random.default_rng(12)
        mean, variance = qk_moments(0.7, 1.3, 16)
        assert (mean, variance) == (pytest.approx(7.84), pytest.approx(72.1968))
        samples = 200_000
        q, k = rng.normal(0.7, 1.3, (samples, 16)), rng.normal(0.7, 1.3, (samples, 16))
        products = (q * k).sum(axis=1)
        assert abs(products.mean() - mean) < 5 * np.sqrt(variance / samples)
        fourth = ((products - products.mean()) ** 4).mean()
        assert abs(products.var() - variance) < 5 * np.sqrt((fourth - products.var() ** 2) / samples)

    def test_against_exact_enumeration_of_a_two_point_distribution(self) -> None:
        """Components μ ± σ with equal chance have mean μ and variance σ²; all 4^h pairs of vectors, h = 3."""
        mu, sigma, h = 0.4, 1.1, 3
        corners = np.array(np.meshgrid(*[[mu - sigma, mu + sigma]] * h)).reshape(h, -1).T  # (2^h, h)
        products = (corners @ corners.T).ravel()
        mean, variance = qk_moments(mu, sigma, h)
        assert products.mean() == pytest.approx(mean, abs=1e-12)
        assert products.var() == pytest.approx(variance, abs=1e-12)

    def test_standard_components_have_variance_h(self) -> None:
        assert qk_moments(0, 1, 64) == (0, 64)


def test_without_the_scale_softmax_saturates_as_the_dimension_grows() -> None:
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


def test_sensitivity_is_the_trace_of_the_jacobian() -> None:
    scores = torch.tensor([0.3, -1.0, 2.0, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=-1), scores)
    assert softmax_sensitivity(softmax(scores.numpy())) == pytest.approx(float(jacobian.trace()), abs=1e-14)
