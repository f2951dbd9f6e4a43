"""Yes/no questions about passages: Clark et al. (2019), "BoolQ", section 5; read as Devlin et al. (2019) read pairs.

    [CLS] question [SEP] passage [SEP] [PAD] …      at most max_len tokens

The question comes first, so that a long passage loses its end and the question stays whole.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.attention.scaled_dot_product import softmax
from reference.bert.packing import pack_pair

PAD, UNKNOWN = "[PAD]", "[UNK]"


def boolq_item(
    question: str, passage: str, answer: bool, vocabulary: Mapping[str, int], max_len: int
) -> dict[str, list[int] | int]:
    """Return one row as the model reads it; words are separated by spaces.

    Raises:
        ValueError: `max_len` leaves no room for the question and three special tokens.
    """
    first, second = question.split(), passage.split()
    room = max_len - len(first) - 3
    if room < 0:
        raise ValueError(f"the question has {len(first)} tokens, too many for {max_len} in all")
    tokens, _ = pack_pair(first, second[:room])
    ids = [vocabulary.get(token, vocabulary[UNKNOWN]) for token in tokens]
    pads = max_len - len(ids)
    return {
        "input_ids": ids + [vocabulary[PAD]] * pads,
        "attention_mask": [1] * len(ids) + [0] * pads,
        "labels": int(answer),
    }


def accuracy(batches: Iterable[tuple[ArrayLike, ArrayLike]]) -> float:
    """Return the share of rows whose largest logit is that of their label, whatever the batch of a row.

    Args:
        batches: logits (row, class) and labels (row,).
    """
    right = [np.argmax(logits, axis=-1) == np.asarray(labels) for logits, labels in batches]
    return float(np.concatenate(right).mean())


def loss_gradient(logits: ArrayLike, labels: ArrayLike) -> NDArray[np.float64]:
    """Return the gradient of the mean cross entropy with respect to the logits: (softmax(o) - y)/n, for n rows."""
    p = softmax(logits)  # (row, class)
    p[np.arange(len(p)), np.asarray(labels)] -= 1
    return p / len(p)
