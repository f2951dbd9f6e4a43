"""Greedy decoding with an end: Sutskever et al. (2014), "Sequence to Sequence Learning", section 3.2, with a beam of 1.

x_{t+1} = argmax_v P(v | x_1 … x_t)            until `<eos>`, which is not part of the text, or `max_len` new tokens
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

Scores = Callable[[Sequence[int]], ArrayLike]
"""From the ids so far to the scores of the next token, shape (V,)."""


def next_token(scores: Scores, ids: Sequence[int]) -> int:
    """Return the id with the highest score; the first of several."""
    return int(np.argmax(np.asarray(scores(ids))))


def greedy_continuation(scores: Scores, prompt: Sequence[int], end: int, max_len: int) -> list[int]:
    """Return the new ids after a prompt, without `end`; at most `max_len` of them."""
    new: list[int] = []
    while len(new) < max_len and (found := next_token(scores, [*prompt, *new])) != end:
        new.append(found)
    return new
