"""Cross entropy of logits with labels, some of which do not count: what BERT is pre-trained and fine-tuned with.

ℒ = -1/|M| Σ_{i in M} log softmax(o_i)[y_i]      M the positions whose label is not `ignore_index`
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def log_softmax(logits: ArrayLike) -> Array:
    """Return the logarithm of softmax over the last axis, finite for logits of any size."""
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def cross_entropy(logits: ArrayLike, labels: ArrayLike, ignore_index: int = -100) -> float:
    """Return the mean over all labels that count, in nats.

    Args:
        logits: shape (…, class).
        labels: a class, or `ignore_index`, for each position, shape (…).
        ignore_index: the label of positions that do not count.

    Raises:
        ValueError: no label counts, so that the mean is undefined.
    """
    wanted = np.asarray(labels)
    counted = wanted != ignore_index  # (…)
    if not counted.any():
        raise ValueError("every label is ignored; there is no loss")
    log_probabilities = log_softmax(logits)[counted]  # (label, class)
    return float(-np.take_along_axis(log_probabilities, wanted[counted][:, None], axis=-1).mean())
