"""Kappa against published and hand-made values, an oracle that counts pairs one by one, and properties."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.review.marker_agreement import Weights, agreement, cohen_kappa

F = Fraction
Pairs = list[tuple[Fraction, Fraction]]
points = st.integers(0, 20).map(lambda quarters: F(quarters, 4))
pairs = st.lists(st.tuples(points, points), max_size=10)
weightings = st.sampled_from(["none", "linear", "quadratic"])
APART: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "none": lambda x, y: F(x != y),
    "linear": lambda x, y: max(x, y) - min(x, y),
    "quadratic": lambda x, y: x * x - 2 * x * y + y * y,
}


def table(rows: Sequence[Sequence[int]]) -> Pairs:
    """Return the pairs of a cross table of ratings 0, 1, …; rows are the first marker's."""
    return [(F(i), F(j)) for i, row in enumerate(rows) for j, count in enumerate(row) for _ in range(count)]


# 200 patients and three diagnoses: table 1 of Fleiss, Cohen and Everitt 1969.
PATIENTS = table([[106, 10, 4], [22, 28, 10], [2, 12, 6]])


@pytest.mark.parametrize(
    ("rated", "weights", "kappa"),
    [
        (table([[20, 5], [10, 15]]), "none", F(2, 5)),  # 0.7 observed, 0.5 by chance
        (PATIENTS, "none", F(3, 7)),  # published as .429
        (PATIENTS, "linear", F(32, 65)),  # 1 - .33 / .65
        (PATIENTS, "quadratic", F(17, 30)),  # 1 - .39 / .90
        (table([[45, 15], [25, 15]]), "none", F(6, 46)),  # 0.60 observed, 0.54 by chance
        (table([[25, 35], [5, 35]]), "none", F(14, 54)),  # 0.60 observed, 0.46 by chance
        ([(F(0), F(4)), (F(4), F(0))], "none", F(-1)),
        ([(F(1), F(1)), (F(1), F(2))], "linear", F(0)),  # one of them tells nothing apart
        ([(F(1), F(2)), (F(1), F(2))], "none", F(0)),
        ([(F(0), F(0)), (F(4), F(4))], "quadratic", F(1)),
        ([(F(1), F(1))] * 5, "none", None),  # no one can tell agreement from chance
        ([], "linear", None),
    ],
)
def test_known_values(rated: Pairs, weights: Weights, kappa: Fraction | None) -> None:
    assert cohen_kappa(rated, weights) == kappa


def oracle(rated: Pairs, weights: str) -> Fraction | None:
    """Every first rating next to every second one, without any table."""
    apart = APART[weights]
    chance = sum((apart(x, y) for x, _ in rated for _, y in rated), F(0))
    if not chance:
        return None
    seen = sum((apart(x, y) for x, y in rated), F(0))
    return 1 - (seen / len(rated)) / (chance / len(rated) ** 2)


@given(pairs, weightings)
def test_kappa_equals_oracle(rated: Pairs, weights: Weights) -> None:
    assert cohen_kappa(rated, weights) == oracle(rated, weights)


@given(pairs)
def test_kappa_is_concordance_correlation(rated: Pairs) -> None:
    """Lin 1989, with variances over n: twice the covariance, over both variances and the squared gap of the means."""
    kappa = cohen_kappa(rated, "quadratic")
    if kappa is None:
        return
    n = len(rated)
    mean_x, mean_y = sum(x for x, _ in rated) / F(n), sum(y for _, y in rated) / F(n)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in rated) / F(n)
    spread = sum((x - mean_x) ** 2 + (y - mean_y) ** 2 for x, y in rated) / F(n)
    assert kappa == 2 * covariance / (spread + (mean_x - mean_y) ** 2)


@given(pairs, weightings, points, st.sampled_from([F(1, 4), F(2, 3), F(7)]))
def test_kappa_invariances(rated: Pairs, weights: Weights, shift: Fraction, scale: Fraction) -> None:
    kappa = cohen_kappa(rated, weights)
    assert kappa is None or kappa <= 1
    assert cohen_kappa([(y, x) for x, y in rated], weights) == kappa
    assert cohen_kappa(rated[::-1], weights) == kappa
    assert cohen_kappa([(x * scale + shift, y * scale + shift) for x, y in rated], weights) == kappa
    assert cohen_kappa(rated * 3, weights) == kappa


@given(pairs)
def test_kappa_of_renamed_ratings(rated: Pairs) -> None:
    names = {rating: F(7 * i % 101) for i, rating in enumerate(sorted({x for pair in rated for x in pair}))}
    assert cohen_kappa([(names[x], names[y]) for x, y in rated]) == cohen_kappa(rated)


def test_agreement_equals_published_values() -> None:
    found = agreement(PATIENTS)
    assert (found.n, found.exact, found.kappa, found.words) == (200, F(7, 10), F(32, 65), "moderate")
    nothing = agreement([])
    assert (nothing.n, nothing.exact, nothing.kappa, nothing.words) == (0, None, None, "")
    same = agreement([(F(2), F(2))])
    assert (same.exact, same.kappa, same.words) == (F(1), None, "")


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        (10, 0, "almost perfect"),
        (9, 1, "substantial"),
        (8, 2, "moderate"),
        (7, 3, "fair"),
        (6, 4, "slight"),
        (5, 5, "slight"),
        (4, 6, "poor"),
    ],
)
def test_words_of_kappa(first: int, other: int, words: str) -> None:
    """Two markers with half of the answers each way: kappa is the share that agrees, less the share that does not."""
    rated = table([[first, other], [other, first]])
    found = agreement(rated)
    assert found.kappa == F(first - other, 10) and found.words == words
