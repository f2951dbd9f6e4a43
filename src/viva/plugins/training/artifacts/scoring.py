"""The accuracy of predictions, computed from them and from labels that only the examiner holds."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from viva.plugins.training.artifacts.array_files import Array


def accuracy(predictions: Array, labels: Sequence[int] | Array) -> Fraction:
    """Return the share of rows in which the prediction is the label, exactly.

    Args:
        predictions: classes (n,), or scores (n, C), of which the highest counts (of several the first, as in argmax).
        labels: (n,), what is right.

    Raises:
        ValueError: the two have different lengths, or there are no rows.
    """
    right = np.asarray(labels)
    classes = predicted_classes(predictions)
    if right.ndim != 1 or classes.shape != right.shape or not right.size:
        raise ValueError(
            f"accuracy: predictions for {classes.shape} and labels {right.shape}; expected one for each row."
        )
    return Fraction(int(np.count_nonzero(classes == right)), right.size)


def predicted_classes(predictions: Array) -> Array:
    """Return classes (n,): as they are, or the first of the highest scores in each row."""
    array = np.asarray(predictions)
    return array if array.ndim == 1 else array.argmax(axis=1)


def tied_rows(predictions: Array) -> NDArray[np.intp]:
    """Return the rows of scores (n, C) in which several classes share the highest; none for classes (n,)."""
    array = np.asarray(predictions)
    if array.ndim == 1:
        return np.zeros(0, np.intp)
    return np.flatnonzero((array == array.max(axis=1, keepdims=True)).sum(axis=1) > 1)
