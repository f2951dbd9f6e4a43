"""Fine-tuning BERT for a tag per word: Devlin et al. (2019), "BERT", section 5.3.

    o_i = W h_i + b      for every token; the loss counts only the first subword of each word

[CLS], [SEP], pads and later subwords get the label -100 (`cross_entropy` leaves it out).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reference.bert.cross_entropy import Array


def token_logits(H: ArrayLike, W: ArrayLike, b: ArrayLike) -> Array:
    """Return the logits of each token.

    Args:
        H: final hidden states, shape (batch, token, d).
        W: shape (tag, d).
        b: shape (tag,).

    Returns:
        shape (batch, token, tag).
    """
    hidden = np.asarray(H, dtype=np.float64)
    logits: Array = hidden @ np.asarray(W, dtype=np.float64).T + np.asarray(b, dtype=np.float64)  # (batch, token, tag)
    return logits


def align_labels(word_ids: Sequence[int | None], word_labels: Sequence[int], ignore_index: int = -100) -> list[int]:
    """Return the label of each token: its word's at the first subword of the word, else `ignore_index`.

    Args:
        word_ids: the word that each token belongs to, None for special tokens and pads.
        word_labels: the label of each word.
        ignore_index: the label of tokens that do not count.
    """
    before: list[int | None] = [None, *word_ids]
    return [
        ignore_index if word is None or word == previous else word_labels[word]
        for previous, word in zip(before, word_ids, strict=False)
    ]
