"""Conditioning a language model on an attribute, over sentences that can be enumerated.

Bayes:      p(x | a) = p(a | x) p(x) / p(a),   p(a) = Σ_x p(a | x) p(x)
Best of n:  the sample with the highest score of n. With F(x) = Σ p(y) over score(y) ≤ score(x),
            P(best = x) = F(x)ⁿ - (F(x) - p(x))ⁿ, which tends to the sentence of the highest score as n grows
Resampling: one of n samples with probability proportional to p(a | x) tends to p(x | a) as n grows
            (Rubin, 1988, "Using the SIR algorithm to simulate posterior distributions")

Best of n maximises p(a | x) and not p(a | x) p(x): its limit is not even the posterior's mode.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Sentence = TypeVar("Sentence")


def posterior(p_lm: ArrayLike, p_a: ArrayLike) -> Array:
    """Return p(x | a) for each sentence.

    Args:
        p_lm: p(x), shape (sentence,).
        p_a: p(a | x), shape (sentence,).

    Raises:
        ValueError: no sentence can have the attribute.
    """
    joint = np.asarray(p_lm, dtype=np.float64) * np.asarray(p_a, dtype=np.float64)  # p(a, x)
    if not joint.sum() > 0:
        raise ValueError("p(a) is 0: no sentence has the attribute")
    conditional: Array = joint / joint.sum()
    return conditional


def best_of_n_distribution(p: ArrayLike, score: ArrayLike, n: int) -> Array:
    """Return the probability of each sentence to have the highest score among n independent samples.

    Args:
        p: probability of each sentence, shape (sentence,).
        score: a different number for each sentence, shape (sentence,).
        n: 1 or more.

    Raises:
        ValueError: two scores are equal, so that "the best" is undefined.
    """
    probability, scores = np.asarray(p, dtype=np.float64), np.asarray(score, dtype=np.float64)
    if len(np.unique(scores)) < len(scores):
        raise ValueError("two sentences have the same score")
    order = np.argsort(scores)
    up_to = np.cumsum(probability[order])  # F, in the order of the scores
    below = np.concatenate([[0.0], up_to[:-1]])
    best = np.empty_like(probability)
    best[order] = up_to**n - below**n
    return best


def importance_resample(
    pool: Sequence[Sentence], scores: ArrayLike, size: int, rng: np.random.Generator
) -> list[Sentence]:
    """Draw `size` samples from a pool, with replacement, each with probability proportional to its score."""
    weights = np.asarray(scores, dtype=np.float64)
    return [pool[int(i)] for i in rng.choice(len(pool), size=size, p=weights / weights.sum())]


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Return ½ Σ |p - q|: the largest difference in the probability of any set of sentences."""
    return float(np.abs(np.asarray(p, dtype=np.float64) - np.asarray(q, dtype=np.float64)).sum() / 2)


def kl_divergence(p: ArrayLike, q: ArrayLike) -> float:
    """Return Σ p log(p/q) in nats; infinite where p has mass and q has none."""
    one, other = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    held = one > 0
    with np.errstate(divide="ignore"):
        return float((one[held] * (np.log(one[held]) - np.log(other[held]))).sum())
