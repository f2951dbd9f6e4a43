"""Prompt tuning: Lester et al. (2021), "The Power of Scale for Parameter-Efficient Prompt Tuning", section 2.

    [p_1; …; p_l; e_1; …; e_n]      l trained vectors before the embeddings e of the n tokens, both of d numbers

Each trained vector takes a place: attention must be allowed to read it, and the positions of the tokens move by l.
Only the prompt, and the classifier on top, are tuned; the model stays as it was.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

TUNED = {"full": ["base", "head"], "head": ["head"], "prefix": ["head", "prefix"]}
"""Which parts of a classifier each way of tuning changes."""


def add_soft_prompt(
    embeddings: ArrayLike, attention_mask: ArrayLike, prompt: ArrayLike
) -> tuple[Array, NDArray[np.int64]]:
    """Put the same prompt before every text of a batch.

    Args:
        embeddings: word embeddings, (batch, token, d).
        attention_mask: 1 where there is a token, 0 where there is padding, (batch, token).
        prompt: (l, d).

    Returns:
        The embeddings, (batch, l + token, d), and the mask, (batch, l + token), in which the prompt is read.
    """
    words, mask = np.asarray(embeddings, dtype=np.float64), np.asarray(attention_mask, dtype=np.int64)
    vectors = np.asarray(prompt, dtype=np.float64)
    copies = np.broadcast_to(vectors, (len(words), *vectors.shape))  # (batch, l, d)
    read = np.ones((len(words), len(vectors)), dtype=np.int64)  # (batch, l)
    return np.concatenate([copies, words], axis=1), np.concatenate([read, mask], axis=1)
