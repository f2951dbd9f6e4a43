"""Ready-made hypothesis strategies for `agree_on`: what functions of NLP coursework take as arguments.

They shrink towards what a student can work out by hand: few tokens, small sizes, whole numbers. Hypothesis is imported
when the first of them is called, so that graders without `agree_on` do not pay for it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Matrices = SearchStrategy[Matrix]


def lengths(low: int = 0, high: int = 12) -> "SearchStrategy[int]":
    """Draw whole numbers from `low` to `high`: lengths of segments, sizes of batches.

    Raises:
        ValueError: `low` is above `high`.
    """
    from hypothesis import strategies as st

    return st.integers(*_ordered(low, high))


def token_lists(vocabulary: Sequence[str] = "ab", low: int = 0, high: int = 8) -> "SearchStrategy[list[str]]":
    """Draw sentences as lists of `low` to `high` tokens; few different tokens, so that n-grams repeat.

    Raises:
        ValueError: the vocabulary is empty, or `low` is above `high`.
    """
    from hypothesis import strategies as st

    if not vocabulary:
        raise ValueError("token_lists: the vocabulary is empty; expected at least one token.")
    low, high = _ordered(low, high)
    return st.lists(st.sampled_from(list(vocabulary)), min_size=low, max_size=high)


def reference_lists(
    vocabulary: Sequence[str] = "ab", low: int = 1, high: int = 8, most: int = 3
) -> "SearchStrategy[list[list[str]]]":
    """Draw one to `most` sentences of `low` to `high` tokens each, as translations to compare with.

    Raises:
        ValueError: as for `token_lists`, or `most` is below 1.
    """
    from hypothesis import strategies as st

    return st.lists(token_lists(vocabulary, low, high), min_size=1, max_size=_ordered(1, most)[1])


def id_lists(size: int = 10, low: int = 1, high: int = 8) -> "SearchStrategy[list[int]]":
    """Draw sequences of `low` to `high` token ids from 1 to `size`; 0 is left to padding.

    Raises:
        ValueError: no ids, or `low` is above `high`.
    """
    from hypothesis import strategies as st

    low, high = _ordered(low, high)
    return st.lists(st.integers(*_ordered(1, size)), min_size=low, max_size=high)


def matrices(
    rows: int | tuple[int, int] = (1, 5), columns: int | tuple[int, int] = (1, 5), largest: int = 3
) -> "Matrices":
    """Draw arrays (rows, columns) of halves between -`largest` and `largest`.

    Args:
        rows, columns: a size, or the smallest and the largest size.
        largest: the bound of the elements.

    Raises:
        ValueError: a smallest size above the largest.
    """
    from hypothesis import strategies as st

    elements = st.integers(-2 * largest, 2 * largest)

    def arranged(shape: tuple[int, int]) -> "Matrices":
        values = st.lists(elements, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
        return values.map(lambda flat: np.array(flat, dtype=np.float64).reshape(shape) / 2)

    return st.tuples(_size(rows), _size(columns)).flatmap(arranged)


def probability_rows(rows: int | tuple[int, int] = (1, 4), columns: int | tuple[int, int] = (1, 5)) -> "Matrices":
    """Draw arrays (rows, columns) without negative elements whose rows sum to 1; some elements are exactly 0.

    Raises:
        ValueError: a smallest size above the largest.
    """
    return matrices(rows, columns).map(_normalised)


def _normalised(values: "Matrix") -> "Matrix":
    weights = np.abs(values)
    weights[weights.sum(axis=1) == 0, 0] = 1
    normalised: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def _size(size: int | tuple[int, int]) -> "SearchStrategy[int]":
    return lengths(size, size) if isinstance(size, int) else lengths(*size)


def _ordered(low: int, high: int) -> tuple[int, int]:
    if not low <= high:
        raise ValueError(f"the sizes are from {low} to {high}; expected the smaller one first.")
    return low, high
