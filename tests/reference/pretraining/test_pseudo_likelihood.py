"""reference/pretraining/pseudo_likelihood.py against exact joint distributions."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from reference.pretraining.pseudo_likelihood import MASK, log_likelihood, pseudo_log_likelihood

Sentence = tuple[str, ...]
WORDS, T = "abc", 3
SENTENCES = list(itertools.product(WORDS, repeat=T))


def joint(seed: int) -> dict[Sentence, float]:
    """A distribution over all sentences."""
    return dict(zip(SENTENCES, np.random.default_rng(seed).dirichlet(np.ones(len(SENTENCES))).tolist(), strict=True))


def total(log_probability: Callable[[Sentence], float]) -> float:
    return sum(math.exp(log_probability(sentence)) for sentence in SENTENCES)


def test_log_likelihood() -> None:
    p = joint(39)

    def step(prefix: list[str]) -> dict[str, float]:
        starting = {x: p[x] for x in SENTENCES if list(x[: len(prefix)]) == prefix}
        return {w: sum(p[x] for x in starting if x[len(prefix)] == w) / sum(starting.values()) for w in WORDS}

    for sentence in SENTENCES:
        assert math.exp(log_likelihood(step, sentence)) == pytest.approx(p[sentence], rel=1e-12)


def perfect(p: dict[Sentence, float]) -> Callable[[list[str]], list[dict[str, float]]]:
    """A masked language model without error: p(x_t | the others) at the one masked position."""

    def fill(tokens: list[str]) -> list[dict[str, float]]:
        t = tokens.index(MASK)
        options = {word: p[(*tokens[:t], word, *tokens[t + 1 :])] for word in WORDS}
        conditional = {word: mass / sum(options.values()) for word, mass in options.items()}
        return [conditional if position == t else {} for position in range(T)]

    return fill


def test_pseudo_log_likelihood() -> None:
    p = joint(40)
    array = np.array(list(p.values())).reshape((len(WORDS),) * T)
    product = array**T / math.prod(array.sum(axis=t, keepdims=True) for t in range(T))
    for sentence, expected in zip(SENTENCES, product.ravel(), strict=True):
        assert math.exp(pseudo_log_likelihood(perfect(p), sentence)) == pytest.approx(expected, rel=1e-12)


def test_pseudo_likelihood_is_no_distribution() -> None:
    assert abs(total(lambda x: pseudo_log_likelihood(perfect(joint(41)), x)) - 1) > 0.1
    rows = np.random.default_rng(42).dirichlet(np.ones(len(WORDS)), size=T)
    independent = {x: math.prod(rows[t][WORDS.index(word)] for t, word in enumerate(x)) for x in SENTENCES}
    assert total(lambda x: pseudo_log_likelihood(perfect(independent), x)) == pytest.approx(1)
