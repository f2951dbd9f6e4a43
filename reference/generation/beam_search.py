"""Beam search: Graves (2012), "Sequence Transduction with Recurrent Neural Networks", algorithm 1.

    score(y_1 … y_t) = Σ_{s=1..t} log P(y_s | y_1 … y_{s-1})
    B_t = the k best of { y · v : y in B_{t-1}, v a continuation of y }        greedy search is k = 1

Every hypothesis is extended `max_steps` times; none ends early.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

Prefix = tuple[Any, ...]
StepFunction = Callable[[Prefix], Mapping[Any, float]]
"""From the tokens so far to the probability of each next token."""
Hypothesis = tuple[Prefix, float]
"""Tokens and their log-probability."""


def beam_search(step: StepFunction, beam_size: int, max_steps: int) -> list[Hypothesis]:
    """Return the `beam_size` best hypotheses that beam search finds, best first.

    Raises:
        ValueError: `beam_size` is not positive.
    """
    if beam_size < 1:
        raise ValueError(f"beam_size is {beam_size}; expected 1 or more")
    beam: list[Hypothesis] = [((), 0.0)]
    for _ in range(max_steps):
        candidates: list[Hypothesis] = []
        for tokens, score in beam:
            candidates += [((*tokens, token), score + _log(p)) for token, p in step(tokens).items()]
        beam = sorted(candidates, key=lambda hypothesis: -hypothesis[1])[:beam_size]
    return beam


def greedy_search(step: StepFunction, max_steps: int) -> Hypothesis:
    """Return the hypothesis that takes the most probable token at every step."""
    return beam_search(step, 1, max_steps)[0]


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf
