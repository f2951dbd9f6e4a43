"""Statistics of item analysis: difficulty, discrimination and reliability.

Pure functions of numbers. A matrix has a row for each response and a column for each question. A value that is not
defined (because of a variance of zero, or too few columns) is None, never NaN or a number that looks like an answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
FEWEST_RESPONSES: Final = 10
"""With fewer responses the numbers would reflect chance more than the questions."""
UPPER_LOWER: Final = 0.27
_NOTHING: Final = 1e-12
"""A variance below this multiple of the squared largest value is a rounding error."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary statistics of a list of numbers."""

    count: int
    mean: float
    sd: float | None
    """The standard deviation with n - 1; None for fewer than two values."""
    low: float
    quartiles: tuple[float, float, float]
    high: float


def summary(values: Sequence[float]) -> Summary | None:
    """Compute count, mean, standard deviation, and the five numbers of a box plot; None for no values.

    Quartiles are interpolated between order statistics (Hyndman and Fan 1996, "Sample quantiles in statistical
    packages", type 7, which R and numpy use).
    """
    if not values:
        return None
    array = np.sort(np.asarray(values, dtype=np.float64))
    first, middle, third = (float(q) for q in np.quantile(array, [0.25, 0.5, 0.75]))
    sd = float(array.std(ddof=1)) if len(array) > 1 else None
    return Summary(len(array), float(array.mean()), sd, float(array[0]), (first, middle, third), float(array[-1]))


def difficulty(shares: npt.ArrayLike) -> list[float]:
    """Compute the mean share of the points of each question: 1 if all responses have full points, 0 if none has any.

    For questions of one point this is the item's p-value (Crocker and Algina 1986, "Introduction to Classical and
    Modern Test Theory", chapter 14). "Difficulty" is the field's word, although a large number means an easy question.
    """
    return [float(mean) for mean in _matrix(shares).mean(axis=0)]


def corrected_item_total(scores: npt.ArrayLike) -> list[float | None]:
    """Compute the correlation of each question with the total of all others.

    r(X_i, T - X_i): the question is not part of the total, because it would be correlated with itself (Henrysson 1963,
    "Correction of item-total correlations in item analysis", Psychometrika 28).

    Returns:
        None for a question with equal points for all responses, and if the totals of all others are equal.
    """
    matrix = _matrix(scores)
    rests = matrix.sum(axis=1, keepdims=True) - matrix
    return [_correlation(matrix[:, i], rests[:, i]) for i in range(matrix.shape[1])]


def upper_lower(shares: npt.ArrayLike, totals: npt.ArrayLike, fraction: float = UPPER_LOWER) -> list[float]:
    """Compute the discrimination D: the mean share in the best 27 % by total minus that in the worst 27 %.

    27 % makes the groups as different as possible and still large (Kelley 1939, "The selection of upper and lower
    groups for the validation of test items", Journal of Educational Psychology 30). If several responses with the same
    total are at the border, each counts in part, so that their order does not matter: D is the mean over all orders.
    """
    matrix = _matrix(shares)
    sums: Matrix = np.asarray(totals, dtype=np.float64).round(9)
    if len(matrix) == 0:
        return []
    size = max(1, round(fraction * len(matrix)))
    return [float(d) for d in (_best(sums, size) - _best(-sums, size)) @ matrix / size]


def cronbach_alpha(scores: npt.ArrayLike) -> float | None:
    """Compute Cronbach's alpha: k / (k - 1) · (1 - Σ var(X_i) / var(Σ X_i)).

    Cronbach 1951, "Coefficient alpha and the internal structure of tests", Psychometrika 16; for questions that are
    right or wrong it equals the KR-20 of Kuder and Richardson. Variances use n - 1. Alpha may be negative.

    Returns:
        None for fewer than two questions or responses, and if all totals are equal.
    """
    matrix = _matrix(scores)
    if len(matrix) < 2:
        return None
    return _alpha(float(matrix.var(axis=0, ddof=1).sum()), matrix.sum(axis=1), matrix.shape[1])


def alpha_without(scores: npt.ArrayLike) -> list[float | None]:
    """Compute Cronbach's alpha without each question; if it is higher, the question does not fit the others."""
    matrix = _matrix(scores)
    if len(matrix) < 2:
        return [None] * matrix.shape[1]
    variances, totals = matrix.var(axis=0, ddof=1), matrix.sum(axis=1)
    return [
        _alpha(float(np.delete(variances, i).sum()), totals - matrix[:, i], matrix.shape[1] - 1)
        for i in range(matrix.shape[1])
    ]


def _matrix(values: npt.ArrayLike) -> Matrix:
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
    """Return the weight of each response in the `size` largest sums; those at the border share the rest."""
    border = np.sort(sums)[-size]
    above, at = sums > border, sums == border
    weights: Matrix = above + at * ((size - above.sum()) / at.sum())
    return weights
