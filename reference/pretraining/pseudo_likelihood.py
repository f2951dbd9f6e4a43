r"""Scoring a sentence with a masked language model: Wang and Cho (2019), "BERT has a Mouth, and It Must Speak".

    causal    log p(x)  = Σ_t log p(x_t | x_<t)      the chain rule: these probabilities sum to 1 over all sentences
    masked    log p̃(x) = Σ_t log p(x_t | x_\t)     one pass per position; these need not sum to 1

The pseudo-log-likelihood (Besag, 1975; Salazar et al., 2020, "Masked Language Model Scoring") ranks sentences well, but
it is not a probability: each factor has already seen the tokens that the other factors predict.
"""

import math
from collections.abc import Callable, Mapping, Sequence

Probabilities = Mapping[str, float]
"""The probability of each token of the vocabulary."""

MASK = "[MASK]"


def log_likelihood(step_fn: Callable[[list[str]], Probabilities], tokens: Sequence[str]) -> float:
    """Return log p(x) of a causal model, in nats.

    Args:
        step_fn: from the tokens before a position, possibly none, to the probabilities of its token.
        tokens: the sentence x.
    """
    return sum(math.log(step_fn(list(tokens[:t]))[token]) for t, token in enumerate(tokens))


def pseudo_log_likelihood(fill_fn: Callable[[list[str]], Sequence[Probabilities]], tokens: Sequence[str]) -> float:
    """Return log p̃(x) of a masked language model, in nats.

    Every token is predicted from all the others, one at a time.

    Args:
        fill_fn: from a sentence that may contain [MASK] to the probabilities of the token at each position.
        tokens: the sentence x.
    """
    return sum(
        math.log(fill_fn([*tokens[:t], MASK, *tokens[t + 1 :]])[t][token])  # p(x_t | x_\t)
        for t, token in enumerate(tokens)
    )
