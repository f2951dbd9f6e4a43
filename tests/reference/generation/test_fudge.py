"""reference/generation/fudge.py against the conditional distribution, enumerated."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from reference.generation.fudge import (
    exact_prefix_classifier,
    fudge_decode,
    fudge_distribution,
    fudge_step,
    make_prefix_dataset,
    sentence_probabilities,
    train_prefix_classifier,
)
from reference.generation.posterior import posterior

Prefix = tuple[Any, ...]


def random_model(rng: np.random.Generator, vocabulary: str, length: int) -> dict[Prefix, dict[str, float]]:
    return {
        prefix: dict(zip(vocabulary, rng.dirichlet(np.ones(len(vocabulary))).tolist(), strict=True))
        for n in range(length)
        for prefix in itertools.product(vocabulary, repeat=n)
    }


def test_fudge_is_the_conditional() -> None:
    """81 strings: equal to Bayes' rule on whole sentences up to rounding."""
    rng = np.random.default_rng(1)
    for vocabulary, length in [("abc", 4), ("ab", 5), ("abcd", 2)]:
        model = random_model(rng, vocabulary, length)
        p_lm = sentence_probabilities(model.__getitem__, length)
        by_hand = {x: np.prod([model[x[:t]][x[t]] for t in range(length)]) for x in p_lm}
        assert p_lm == pytest.approx(by_hand, abs=1e-15) and len(p_lm) == len(vocabulary) ** length
        p_a = {sentence: float(rng.random()) for sentence in p_lm}
        tokenwise = fudge_distribution(model.__getitem__, exact_prefix_classifier(p_lm, p_a), length)
        whole = posterior(list(p_lm.values()), [p_a[x] for x in p_lm])
        np.testing.assert_allclose([tokenwise[x] for x in p_lm], whole, rtol=0, atol=1e-15)


def test_exact_prefix_classifier() -> None:
    model = {(): {"a": 0.5, "b": 0.5}, ("a",): {"a": 0.25, "b": 0.75}, ("b",): {"a": 1.0, "b": 0.0}}
    p_lm = sentence_probabilities(model.__getitem__, 2)
    p_a = {("a", "a"): 1.0, ("a", "b"): 0.2, ("b", "a"): 0.5, ("b", "b"): 0.9}
    classify = exact_prefix_classifier(p_lm, p_a)
    assert classify(("a",)) == pytest.approx(0.25 * 1.0 + 0.75 * 0.2)
    assert classify(("b", "a")) == 0.5 and classify(()) == pytest.approx(0.5 * 0.4 + 0.5 * 0.5)


def test_impossible_step() -> None:
    with pytest.raises(ValueError, match="no candidate"):
        fudge_step([0.5, 0.5], [0.0, 0.0])


def test_fudge_decode() -> None:
    """Pearson's chi-square over 27 sentences."""
    rng = np.random.default_rng(2)
    model = random_model(rng, "abc", 3)
    p_lm = sentence_probabilities(model.__getitem__, 3)
    classify = exact_prefix_classifier(p_lm, {x: 0.1 + 0.8 * float(x.count("a") > 1) for x in p_lm})
    expected = fudge_distribution(model.__getitem__, classify, 3)
    drawn = Counter(tuple(fudge_decode(model.__getitem__, classify, 3, rng)) for _ in range(5000))
    statistic = sum((drawn[x] - 5000 * p) ** 2 / (5000 * p) for x, p in expected.items())
    assert statistic < 26 + 5 * np.sqrt(2 * 26)


def test_prefix_dataset() -> None:
    examples = make_prefix_dataset([["a", "b"], ["a"], []], [1, 0, 1])
    assert examples == [(("a",), 1), (("a", "b"), 1), (("a",), 0)]
    rng = np.random.default_rng(3)
    sentences = [list(rng.choice(list("ab"), int(size))) for size in rng.integers(0, 6, 20)]
    labels = rng.integers(2, size=20).tolist()
    assert len(make_prefix_dataset(sentences, labels)) == sum(map(len, sentences))
    with pytest.raises(ValueError):
        make_prefix_dataset(sentences, labels[:-1])


def test_smoothed_prefix_classifier() -> None:
    """With one token, naive Bayes is the odds of two smoothed counts."""
    examples = [(("a",), 1)] * 6 + [(("a",), 0)] * 2 + [(("b",), 0)] * 4
    classify = train_prefix_classifier(examples)
    odds = (7 / 7) * (7 / 8) / (3 / 8)
    assert classify(("a",)) == pytest.approx(odds / (1 + odds))
    assert classify(()) == pytest.approx(0.5) and classify(("unseen",)) == pytest.approx(0.5)


def test_trained_prefix_classifier() -> None:
    """From 0.044 without a classifier to 0.475; with the exact one the rate is 1."""
    rng = np.random.default_rng(4)
    model = random_model(rng, "abc", 4)
    p_lm = sentence_probabilities(model.__getitem__, 4)
    has = {x: float(x.count("a") >= 3) for x in p_lm}
    sentences = [fudge_decode(model.__getitem__, lambda prefix: 1.0, 4, rng) for _ in range(400)]
    classify = train_prefix_classifier(make_prefix_dataset(sentences, [int(has[tuple(x)]) for x in sentences]))
    base = sum(p * has[x] for x, p in p_lm.items())
    guided = sum(p * has[x] for x, p in fudge_distribution(model.__getitem__, classify, 4).items())
    exact = fudge_distribution(model.__getitem__, exact_prefix_classifier(p_lm, has), 4)
    assert base < 0.05 and guided > base + 0.4
    assert sum(p * has[x] for x, p in exact.items()) == pytest.approx(1)
