"""What a masked language model says about a whole sentence: Wang and Cho (2019), "BERT has a Mouth, and It Must Speak".

    causal    log p(x)  = Σ_t log p(x_t | x_<t)      the chain rule: these probabilities sum to 1 over all sentences
    masked    log p̃(x) = Σ_t log p(x_t | x_\\t)     one pass per position; these need not sum to 1

The pseudo-log-likelihood (Besag, 1975; Salazar et al., 2020, "Masked Language Model Scoring") ranks sentences well, but
it is no probability: each factor has already seen the tokens that the other factors predict.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from reference.bert.cross_entropy import log_softmax


def log_likelihood(next_logits: Callable[[list[int]], ArrayLike], ids: Sequence[int]) -> float:
    """log p(x) of a causal model, in nats.

    Args:
        next_logits: from the tokens before a position, possibly none, to the logits of its token, shape (vocabulary,).
        ids: the sentence x.
    """
    tokens = [int(i) for i in ids]
    return float(sum(log_softmax(next_logits(tokens[:t]))[token] for t, token in enumerate(tokens)))


def pseudo_log_likelihood(logits_fn: Callable[[list[int]], ArrayLike], ids: Sequence[int], mask_id: int) -> float:
    """log p̃(x) of a masked language model, in nats: every token predicted from all the others.

    Args:
        logits_fn: from a sentence to the logits of each of its tokens, shape (token, vocabulary).
        ids: the sentence x.
        mask_id: the id of [MASK].
    """
    tokens = [int(i) for i in ids]
    total = 0.0
    for t, token in enumerate(tokens):
        logits = np.asarray(logits_fn([*tokens[:t], mask_id, *tokens[t + 1 :]]))  # (token, vocabulary)
        total += float(log_softmax(logits[t])[token])
    return total
