"""reference/pretraining/pseudo_likelihood.py against exact joint distributions, and the models of Hugging Face."""

import itertools
import math

import numpy as np
import pytest
import torch

from reference.pretraining.pseudo_likelihood import MASK, log_likelihood, pseudo_log_likelihood

WORDS, T = "abc", 3
SENTENCES = list(itertools.product(WORDS, repeat=T))


def joint(seed: int) -> dict[tuple[str, ...], float]:
    """A distribution over all sentences."""
    return dict(zip(SENTENCES, np.random.default_rng(seed).dirichlet(np.ones(len(SENTENCES))).tolist(), strict=True))


def total(log_probability) -> float:  # type: ignore[no-untyped-def]
    return sum(math.exp(log_probability(sentence)) for sentence in SENTENCES)


def test_the_chain_rule_gives_back_the_joint_distribution() -> None:
    p = joint(39)

    def step(prefix: list[str]) -> dict[str, float]:
        starting = {x: p[x] for x in SENTENCES if list(x[: len(prefix)]) == prefix}
        return {w: sum(p[x] for x in starting if x[len(prefix)] == w) / sum(starting.values()) for w in WORDS}

    for sentence in SENTENCES:
        assert math.exp(log_likelihood(step, sentence)) == pytest.approx(p[sentence], rel=1e-12)


def perfect(p: dict[tuple[str, ...], float]):  # type: ignore[no-untyped-def]
    """A masked language model without error: p(x_t | the others) at the one masked position."""

    def fill(tokens: list[str]) -> list[dict[str, float]]:
        t = tokens.index(MASK)
        options = {word: p[(*tokens[:t], word, *tokens[t + 1 :])] for word in WORDS}
        conditional = {word: mass / sum(options.values()) for word, mass in options.items()}
        return [conditional if position == t else {} for position in range(T)]

    return fill


def test_pseudo_likelihood_multiplies_the_exact_conditionals() -> None:
    p = joint(40)
    array = np.array(list(p.values())).reshape((len(WORDS),) * T)
    product = array**T / math.prod(array.sum(axis=t, keepdims=True) for t in range(T))
    for sentence, expected in zip(SENTENCES, product.ravel(), strict=True):
        assert math.exp(pseudo_log_likelihood(perfect(p), sentence)) == pytest.approx(expected, rel=1e-12)


def test_even_of_a_perfect_model_it_is_no_distribution_unless_tokens_are_independent() -> None:
    assert abs(total(lambda x: pseudo_log_likelihood(perfect(joint(41)), x)) - 1) > 0.1
    rows = np.random.default_rng(42).dirichlet(np.ones(len(WORDS)), size=T)
    independent = {x: math.prod(rows[t][WORDS.index(word)] for t, word in enumerate(x)) for x in SENTENCES}
    assert total(lambda x: pseudo_log_likelihood(perfect(independent), x)) == pytest.approx(1)


IDS = {word: place for place, word in enumerate([*WORDS, MASK, "[BOS]"])}


@pytest.fixture(scope="module")
def bert():  # type: ignore[no-untyped-def]
    """Random BERTs, one with full and one with causal attention: from tokens to probabilities, (token, word)."""
    from transformers import BertConfig, BertLMHeadModel

    def build(causal: bool):  # type: ignore[no-untyped-def]
        torch.manual_seed(43)
        config = BertConfig(
            vocab_size=len(IDS),
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=8,
            initializer_range=2.0,
            is_decoder=causal,
        )
        model = BertLMHeadModel(config).double().eval()

        def probabilities(tokens: list[str]) -> list[dict[str, float]]:
            with torch.no_grad():
                logits = model(torch.tensor([[IDS[token] for token in tokens]])).logits[0, :, : len(WORDS)]
            return [dict(zip(WORDS, row, strict=True)) for row in logits.softmax(-1).tolist()]

        return probabilities

    return build(causal=False), build(causal=True)


def moved(model, before: str, after: str) -> list[bool]:  # type: ignore[no-untyped-def]
    """At which positions the prediction differs."""
    pairs = zip(model(list(before)), model(list(after)), strict=True)
    return [max(abs(one[word] - other[word]) for word in WORDS) > 1e-9 for one, other in pairs]


def test_a_bidirectional_model_sees_the_future_and_a_causal_one_does_not(bert) -> None:  # type: ignore[no-untyped-def]
    masked, causal = bert
    assert moved(masked, "abca", "abcb") == [True] * 4
    assert moved(causal, "abca", "abcb") == [False] * 3 + [True]


def test_probabilities_of_sentences_sum_to_one_for_the_causal_model_alone(bert) -> None:  # type: ignore[no-untyped-def]
    masked, causal = bert
    assert total(lambda x: log_likelihood(lambda prefix: causal(["[BOS]", *prefix])[-1], x)) == pytest.approx(1)
    assert abs(total(lambda x: pseudo_log_likelihood(masked, x)) - 1) > 0.05
