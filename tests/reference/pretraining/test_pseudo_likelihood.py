"""reference/pretraining/pseudo_likelihood.py against exact joint distributions, and the models of Hugging Face."""

import itertools
import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.pretraining.pseudo_likelihood import log_likelihood, pseudo_log_likelihood

Array = NDArray[np.float64]

V, T, MASK = 3, 3, 3
SENTENCES = list(itertools.product(range(V), repeat=T))


def joint(seed: int) -> Array:
    """A distribution over all sentences, shape (V, V, V)."""
    return np.random.default_rng(seed).dirichlet(np.ones(V**T)).reshape((V,) * T)


def total(log_probability) -> float:  # type: ignore[no-untyped-def]
    return sum(math.exp(log_probability(sentence)) for sentence in SENTENCES)


def test_the_chain_rule_gives_back_the_joint_distribution() -> None:
    p = joint(39)
    for sentence in SENTENCES:
        ours = log_likelihood(lambda prefix: np.log(p[tuple(prefix)].reshape(V, -1).sum(axis=1)), sentence)
        assert math.exp(ours) == pytest.approx(p[sentence], rel=1e-12)


def conditionals(p: Array):  # type: ignore[no-untyped-def]
    """A perfect masked language model: log p(x_t | the others) at the masked position."""

    def logits(ids: list[int]) -> Array:
        t = ids.index(MASK)
        rows = np.zeros((T, V))
        rows[t] = np.log(p[tuple(slice(None) if i == MASK else i for i in ids)])
        return rows

    return logits


def test_pseudo_likelihood_multiplies_the_exact_conditionals() -> None:
    p = joint(40)
    for x in SENTENCES:
        product = math.prod(
            p[x] / sum(p[(*x[:t], token, *x[t + 1 :])] for token in range(V))  # by the definition of a conditional
            for t in range(T)
        )
        assert math.exp(pseudo_log_likelihood(conditionals(p), x, MASK)) == pytest.approx(product, rel=1e-12)


def test_even_of_a_perfect_model_it_is_no_distribution_unless_tokens_are_independent() -> None:
    assert abs(total(lambda x: pseudo_log_likelihood(conditionals(joint(41)), x, MASK)) - 1) > 0.1
    rows = np.random.default_rng(42).dirichlet(np.ones(V), size=T)
    independent = np.einsum("i,j,k->ijk", *rows)
    assert total(lambda x: pseudo_log_likelihood(conditionals(independent), x, MASK)) == pytest.approx(1)


@pytest.fixture(scope="module")
def bert():  # type: ignore[no-untyped-def]
    """Random BERTs, one with full and one with causal attention."""
    from transformers import BertConfig, BertLMHeadModel

    def build(causal: bool):  # type: ignore[no-untyped-def]
        torch.manual_seed(43)
        config = BertConfig(
            vocab_size=V + 2,  # three words, [MASK] and a token to begin with
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=8,
            initializer_range=2.0,
            is_decoder=causal,
        )
        model = BertLMHeadModel(config).double().eval()

        def logits(ids: list[int]) -> Array:
            with torch.no_grad():
                result: Array = model(torch.tensor([ids])).logits[0, :, :V].numpy()
            return result

        return logits

    return build(causal=False), build(causal=True)


def test_a_bidirectional_model_sees_the_future_and_a_causal_one_does_not(bert) -> None:  # type: ignore[no-untyped-def]
    masked, causal = bert
    before, after = [0, 1, 2, 0], [0, 1, 2, 1]
    assert (np.abs(masked(before)[:3] - masked(after)[:3]).max(axis=1) > 1e-3).all()
    np.testing.assert_allclose(causal(before)[:3], causal(after)[:3], atol=1e-12)


def test_probabilities_of_sentences_sum_to_one_for_the_causal_model_alone(bert) -> None:  # type: ignore[no-untyped-def]
    masked, causal = bert
    begin = V + 1
    assert total(lambda x: log_likelihood(lambda prefix: causal([begin, *prefix])[-1], x)) == pytest.approx(1)
    assert abs(total(lambda x: pseudo_log_likelihood(masked, x, MASK)) - 1) > 0.05
