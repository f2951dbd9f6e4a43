"""A linear head on an encoder, with or without a soft prompt before the text: Lester et al. (2021), section 2.

    o = W pool(Encoder([P; E])) + b        E word embeddings, P the prompt, the mask grown by as many ones

The course's file takes the mean of all hidden states, those of padding and prompt included; `POOLINGS` has what others
do.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.adaptation.soft_prompt import add_soft_prompt
from reference.bert.encoder import Weights, embed, encode, pool

Array = NDArray[np.float64]
Pooling = Callable[[Weights, Array, Array, int], Array]


def _all(_weights: Weights, hidden: Array, _mask: Array, _length: int) -> Array:
    return np.asarray(hidden.mean(axis=1))


def _visible(_weights: Weights, hidden: Array, mask: Array, _length: int) -> Array:
    return np.asarray((hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True))


def _visible_text(weights: Weights, hidden: Array, mask: Array, length: int) -> Array:
    return _visible(weights, hidden[:, length:], mask[:, length:], 0)


POOLINGS: Final[dict[str, Pooling]] = {
    "mean": _all,
    "mean without padding": _visible,
    "mean of the text": lambda weights, hidden, mask, length: _all(weights, hidden[:, length:], mask, 0),
    "mean of the text without padding": lambda w, hidden, mask, length: _visible(
        w, hidden[:, length:], mask[:, length:], 0
    ),
    "[CLS]": lambda _weights, hidden, _mask, length: hidden[:, length],
    "first position": lambda _weights, hidden, _mask, _length: hidden[:, 0],
    "pooler": lambda weights, hidden, _mask, _length: pool(weights, hidden),
    "pooler of [CLS]": lambda weights, hidden, _mask, length: pool(weights, hidden[:, length:]),
}
"""Ways from hidden states (batch, l + n, d) and mask (batch, l + n) to one vector a row; l is the prompt's length."""


def classifier_logits(
    weights: Weights,
    input_ids: ArrayLike,
    attention_mask: ArrayLike,
    W: ArrayLike,
    b: ArrayLike,
    prompt: ArrayLike | None = None,
    heads: int = 2,
) -> dict[str, Array]:
    """Return the logits (batch, class) of a linear head, by the name of the pooling.

    Args:
        weights: of the encoder.
        input_ids: shape (batch, n).
        attention_mask: shape (batch, n), 1 = visible.
        W: shape (class, d).
        b: shape (class,).
        prompt: shape (l, d), or None for none.
        heads: of the encoder's attention.
    """
    words, mask = embed(weights, input_ids), np.asarray(attention_mask)
    if prompt is not None:
        words, mask = add_soft_prompt(words, mask, prompt)
    return logits_from(weights, words, mask, W, b, 0 if prompt is None else len(np.asarray(prompt)), heads)


def logits_from(
    weights: Weights,
    words: ArrayLike,
    attention_mask: ArrayLike,
    W: ArrayLike,
    b: ArrayLike,
    length: int,
    heads: int = 2,
) -> dict[str, Array]:
    """Return `classifier_logits` from word embeddings (batch, l + n, d), the first `length` of which are a prompt's."""
    head, bias, mask = np.asarray(W, dtype=np.float64), np.asarray(b, dtype=np.float64), np.asarray(attention_mask)
    hidden = encode(weights, words, mask, heads)  # (batch, l + n, d)
    return {name: pooling(weights, hidden, mask, length) @ head.T + bias for name, pooling in POOLINGS.items()}
