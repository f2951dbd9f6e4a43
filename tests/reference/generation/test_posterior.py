"""reference/generation/posterior.py against counting, enumeration of all samples, and Monte Carlo."""

import itertools

import numpy as np
import pytest
import torch

from reference.generation.posterior import (
    best_of_n_distribution,
    importance_resample,
    kl_divergence,
    posterior,
    total_variation,
)

P = np.array([0.4, 0.3, 0.2, 0.1])
P_A = np.array([0.2, 0.5, 0.1, 0.9])


def test_posterior() -> None:
    """Whole numbers: of 1,000 sentences 400, 300, … are drawn and 80, 150, 20, 90 of them have the attribute."""
    np.testing.assert_allclose(posterior(P, P_A), np.array([80, 150, 20, 90]) / 340, atol=1e-15)


def test_impossible_attribute() -> None:
    with pytest.raises(ValueError, match=r"p\(a\) is 0"):
        posterior(P, np.zeros(4))


def test_best_of_n() -> None:
    score = np.array([2.0, -1.0, 5.0, 3.0])
    for n in (1, 2, 3, 5):
        by_hand = np.zeros(4)
        for sample in itertools.product(range(4), repeat=n):
            by_hand[max(sample, key=lambda x: score[x])] += np.prod(P[list(sample)])
        np.testing.assert_allclose(best_of_n_distribution(P, score, n), by_hand, atol=1e-14)


def test_limit_of_best_of_n() -> None:
    """The erratum of question 3c: p(a|x) is maximised, not p(a|x) p(x)."""
    limit = best_of_n_distribution(P, P_A, 10_000)
    assert limit[P_A.argmax()] == pytest.approx(1)
    assert posterior(P, P_A).argmax() == 1 != P_A.argmax()


def test_best_of_n_with_equal_scores() -> None:
    with pytest.raises(ValueError, match="same score"):
        best_of_n_distribution(P, [1.0, 1.0, 2.0, 3.0], 2)


def test_resampling_converges() -> None:
    rng = np.random.default_rng(3)
    target = posterior(P, P_A)
    distances = []
    for n in (1, 8, 512):
        pools = rng.choice(4, size=(4000, n), p=P)
        drawn = [importance_resample(pool.tolist(), P_A[pool], 1, rng)[0] for pool in pools]
        distances.append(total_variation(np.bincount(drawn, minlength=4) / len(drawn), target))
    assert distances[0] > 0.2 > distances[1] > distances[2] and distances[2] < 0.03
    assert total_variation(best_of_n_distribution(P, P_A, 512), target) > 0.7


def test_divergences_have_known_values() -> None:
    q = posterior(P, P_A)
    expected = torch.nn.functional.kl_div(torch.tensor(P).log(), torch.tensor(q), reduction="sum")
    assert kl_divergence(q, P) == pytest.approx(float(expected))
    assert kl_divergence(P, P) == 0 and kl_divergence([1.0, 0.0], [0.0, 1.0]) == np.inf
    assert kl_divergence([0.0, 1.0], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert total_variation([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]) == 0.5


def test_miscalibrated_classifier() -> None:
    """Question 3b: only the ratios of p(a|x) count, and sharpening changes them."""
    exact = posterior(P, P_A)
    assert kl_divergence(exact, posterior(P, P_A**3 / (P_A**3 + (1 - P_A) ** 3))) > 0.05
    np.testing.assert_allclose(posterior(P, P_A / 2), exact, atol=1e-15)
