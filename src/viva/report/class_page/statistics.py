"""Item analysis: how hard a question was, how well it tells students apart, how well questions belong together.

Pure functions of numbers. A matrix has a row for each response and a column for each question. What cannot be said (a
variance of zero, too few columns) is None, never NaN and never a number that looks like an answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
FEWEST_RESPONSES: Final = 10
"""Below it the numbers would say more of chance than of the questions."""
UPPER_LOWER: Final = 0.27
_NOTHING: Final = 1e-12
"""A variance, beside the square of the largest value, that is rounding and nothing else."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a list of numbers lies."""

    count: int
    mean: float
    sd: float | None
    """With n - 1; None for fewer than two."""
    low: float
    quartiles: tuple[float, float, float]
    high: float


def summary(values: Sequence[float]) -> Summary | None:
    """Count, mean, standard deviation, and the five numbers of a box plot; None for no values.

    Quartiles are interpolated between order statistics (Hyndman and Fan 1996, "Sample quantiles in statistical
    packages", type 7, which R and numpy use).
    """
    if not values:
        return None
    array = np.sort(np.asarray(values, dtype=np.float64))
    first, middle, third = (float(q) for q in np.quantile(array, [0.25, 0.5, 0.75]))
    sd = float(array.std(ddof=1)) if len(array) > 1 else None
    return Summary(len(array), float(array.mean()), sd, float(array[0]), (first, middle, third), float(array[-1]))


def difficulty(shares: Any) -> list[float]:
    """The mean share of the points, for each question: 1 where all had everything, 0 where nobody had anything.

    For questions of one point this is the item's p-value (Crocker and Algina 1986, "Introduction to Classical and
    Modern Test Theory", chapter 14). "Difficulty" is the field's word, although a large number means an easy question.
    """
    return [float(mean) for mean in _matrix(shares).mean(axis=0)]


def corrected_item_total(scores: Any) -> list[float | None]:
    """The correlation of each question with the total of all others.

    r(X_i, T - X_i): the question is taken out of the total, else it would be correlated with itself (Henrysson 1963,
    "Correction of item-total correlations in item analysis", Psychometrika 28).

    Returns:
        None for a question in which all have the same, and where all others together are the same for everybody.
    """
    matrix = _matrix(scores)
    rests = matrix.sum(axis=1, keepdims=True) - matrix
    return [_correlation(matrix[:, i], rests[:, i]) for i in range(matrix.shape[1])]


def upper_lower(shares: Any, totals: Any, fraction: float = UPPER_LOWER) -> list[float]:
    """The discrimination D: the mean share in the best 27 % by total, less that in the worst 27 %.

    27 % makes the groups as different as they can be and yet large (Kelley 1939, "The selection of upper and lower
    groups for the validation of test items", Journal of Educational Psychology 30). Where several responses with one
    total lie at the border, each counts in part, so that their order cannot matter: D is its mean over all orders.
    """
    matrix = _matrix(shares)
    sums: Matrix = np.asarray(totals, dtype=np.float64).round(9)
    if len(matrix) == 0:
        return []
    size = max(1, round(fraction * len(matrix)))
    return [float(d) for d in (_best(sums, size) - _best(-sums, size)) @ matrix / size]


def cronbach_alpha(scores: Any) -> float | None:
    """Cronbach's alpha: k / (k - 1) · (1 - Σ var(X_i) / var(Σ X_i)).

    Cronbach 1951, "Coefficient alpha and the internal structure of tests", Psychometrika 16; for questions that are
    right or wrong it is the KR-20 of Kuder and Richardson. Variances with n - 1. It may be negative.

    Returns:
        None for fewer than two questions or responses, and where all totals are the same.
    """
    matrix = _matrix(scores)
    if len(matrix) < 2:
        return None
    return _alpha(float(matrix.var(axis=0, ddof=1).sum()), matrix.sum(axis=1), matrix.shape[1])


def alpha_without(scores: Any) -> list[float | None]:
    """Cronbach's alpha of all other questions, for each question: where it rises, the question does not belong."""
    matrix = _matrix(scores)
    if len(matrix) < 2:
        return [None] * matrix.shape[1]
    variances, totals = matrix.var(axis=0, ddof=1), matrix.sum(axis=1)
    return [
        _alpha(float(np.delete(variances, i).sum()), totals - matrix[:, i], matrix.shape[1] - 1)
        for i in range(matrix.shape[1])
    ]


def _matrix(values: Any) -> Matrix:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"a matrix of responses and questions is expected, not {matrix.ndim} dimensions")
    return matrix


def _varies(values: Matrix) -> bool:
    return bool(values.var() > _NOTHING * max(float(np.abs(values).max()) ** 2, 1e-300))


def _correlation(one: Matrix, two: Matrix) -> float | None:
    if len(one) < 2 or not _varies(one) or not _varies(two):
        return None
    a, b = one - one.mean(), two - two.mean()
    r = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, r))


def _alpha(of_items: float, totals: Matrix, k: int) -> float | None:
    if k < 2 or not _varies(totals):
        return None
    return k / (k - 1) * (1 - of_items / float(totals.var(ddof=1)))


def _best(sums: Matrix, size: int) -> Matrix:
    """How much of each response belongs to the `size` largest; those at the border share what is left."""
    border = np.sort(sums)[-size]
    above, at = sums > border, sums == border
    weights: Matrix = above + at * ((size - above.sum()) / at.sum())
    return weights
