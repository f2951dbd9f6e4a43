"""Item analysis against published values, an oracle that is written differently, and properties."""

import math
import statistics as st
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as draw

from viva.plugins.report.class_counts import summarize
from viva.plugins.report.item_analysis import (
    alpha_without,
    corrected_item_total,
    cronbach_alpha,
    difficulty,
    upper_lower,
)

# Twelve people and eleven questions, the example of pingouin's documentation; those who left something out are dropped.
# There and with `alpha` of R's psych package: 0.801695.
PUBLISHED = [
    [int(digit) for digit in f"{row:011}"]
    for row in (
        11111111111, 11111111010, 11101101100, 11111000100, 11110010000, 11111000000, 1011000010, 11100000000,
        10010000000,
    )
]  # fmt: skip
matrices = draw.integers(2, 7).flatmap(
    lambda columns: draw.lists(
        draw.lists(draw.integers(0, 4).map(float), min_size=columns, max_size=columns), min_size=2, max_size=25
    )
)


def columns_of(rows: list[list[float]]) -> list[list[float]]:
    return [list(column) for column in zip(*rows, strict=True)]


def oracle_alpha(rows: list[list[float]]) -> float | None:
    """From the mean covariance and the mean variance, as in Cronbach's equation 16, with exact sums."""
    columns = columns_of(rows)
    k = len(columns)
    if k < 2 or len(set(map(sum, rows))) == 1:
        return None
    between = [st.covariance(a, b) for i, a in enumerate(columns) for j, b in enumerate(columns) if i != j]
    mean_covariance, mean_variance = st.fmean(between), st.fmean(st.variance(c) for c in columns)
    return k * mean_covariance / (mean_variance + (k - 1) * mean_covariance)


def oracle_item_total(rows: list[list[float]], i: int) -> float | None:
    item = [row[i] for row in rows]
    rest = [sum(row[:i] + row[i + 1 :]) for row in rows]
    try:
        return st.correlation(item, rest)
    except st.StatisticsError:
        return None


def same(one: float | None, two: float | None) -> bool:
    return (one is None) == (two is None) and (one is None or two is None or math.isclose(one, two, abs_tol=1e-9))


def test_published_alpha() -> None:
    assert cronbach_alpha(PUBLISHED) == pytest.approx(0.801695, abs=1e-6)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_spearman_brown(k: int) -> None:
    """Two halves with r = 0.6; k copies of such questions would have k r / (1 + (k - 1) r) by design."""
    r = 0.6
    # Orthogonal columns by sines: exactly uncorrelated, of equal variance; a common part makes r between all of them.
    n = 64
    common = [math.sin(2 * math.pi * t / n) for t in range(n)]
    own = [[math.sin(2 * math.pi * (j + 2) * t / n) for t in range(n)] for j in range(k)]
    rows = [[math.sqrt(r) * common[t] + math.sqrt(1 - r) * own[j][t] for j in range(k)] for t in range(n)]
    assert cronbach_alpha(rows) == pytest.approx(k * r / (1 + (k - 1) * r))


def test_published_alpha_without() -> None:
    """The example of Julia's StatsBase: variances of 10 to 13, covariances of 6."""
    centred = np.random.default_rng(0).normal(size=(7, 4))
    independent = np.linalg.qr(centred - centred.mean(axis=0))[0] * np.sqrt(6)
    covariance = np.full((4, 4), 6.0) + np.diag([4.0, 5.0, 6.0, 7.0])
    rows = independent @ np.linalg.cholesky(covariance).T
    assert np.cov(rows.T) == pytest.approx(covariance)
    assert cronbach_alpha(rows) == pytest.approx(0.8136, abs=5e-5)
    assert alpha_without(rows) == pytest.approx([0.75, 0.7606, 0.7714, 0.7826], abs=5e-5)


def test_contradicting_question() -> None:
    rows = [[x, x, 4 - x] for x in range(5)]
    assert [r is not None and round(r, 6) for r in corrected_item_total(rows)] == [False, False, -1.0]
    without = alpha_without(rows)
    assert without[2] == pytest.approx(1.0)
    assert without[0] is None  # the other two add up to the same for everybody


def test_difficulty_and_discrimination() -> None:
    shares = [[1.0, 1.0], [1.0, 0.5], [1.0, 0.5], [0.0, 0.0]]
    assert difficulty(shares) == [0.75, 0.5]
    assert upper_lower(shares, [2, 1.5, 1.5, 0]) == [1.0, 1.0]


def test_ties_at_the_border() -> None:
    """A group of two of which one place is for two responses of the same total: each counts half."""
    shares = [[1.0], [1.0], [0.0], [0.0], [0.0], [0.0], [0.0]]
    assert upper_lower(shares, [9, 5, 5, 1, 1, 1, 1]) == [pytest.approx((1 + 0.5) / 2)]


def test_summary_has_quartiles_mean_and_deviation() -> None:
    found = summarize([1, 2, 3, 4, 10])
    assert found is not None
    assert (found.low, found.quartiles, found.high) == (1, (2, 3, 4), 10)
    assert found.mean == 4
    assert found.sd == pytest.approx(math.sqrt(50 / 4))
    assert summarize([]) is None
    single = summarize([3.0])
    assert single is not None and single.sd is None


@pytest.mark.parametrize(
    ("rows", "alpha"),
    [
        ([[1.0, 1.0]] * 12, None),
        ([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]] * 6, None),  # differs by rounding alone
        ([[1.0]] * 12, None),
        ([[1.0, 2.0]], None),
        ([[0.0, 1.0], [1.0, 1.0]] * 6, 0.0),
    ],
)
def test_undefined_statistics(rows: list[list[float]], alpha: float | None) -> None:
    assert cronbach_alpha(rows) == alpha
    assert None in [*corrected_item_total(rows), *alpha_without(rows)]


@given(matrices)
def test_equals_oracle(rows: list[list[float]]) -> None:
    assert same(cronbach_alpha(rows), oracle_alpha(rows))
    for i, (r, without) in enumerate(zip(corrected_item_total(rows), alpha_without(rows), strict=True)):
        assert same(r, oracle_item_total(rows, i))
        assert same(without, oracle_alpha([row[:i] + row[i + 1 :] for row in rows]))


@given(matrices, draw.randoms(use_true_random=False))
def test_order_of_responses(rows: list[list[float]], random: Random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert same(cronbach_alpha(rows), cronbach_alpha(shuffled))
    for one, two in zip(
        upper_lower(rows, [sum(r) for r in rows]), upper_lower(shuffled, [sum(r) for r in shuffled]), strict=True
    ):
        assert one == pytest.approx(two)


@given(matrices)
def test_statistics_stay_in_their_bounds(rows: list[list[float]]) -> None:
    shares = [[value / 4 for value in row] for row in rows]
    assert all(0 <= p <= 1 for p in difficulty(shares))
    assert all(-1 - 1e-9 <= d <= 1 + 1e-9 for d in upper_lower(shares, [sum(row) for row in rows]))
    assert all(r is None or -1 <= r <= 1 for r in corrected_item_total(rows))
    alpha = cronbach_alpha(rows)
    assert alpha is None or alpha <= 1 + 1e-9


@given(matrices, draw.integers(1, 9), draw.integers(-5, 5))
def test_alpha_does_not_depend_on_units(rows: list[list[float]], factor: int, shift: int) -> None:
    assert same(cronbach_alpha(rows), cronbach_alpha([[factor * value + shift for value in row] for row in rows]))


def test_discrimination_over_all_orders() -> None:
    shares, totals = [[1.0], [0.0], [0.5], [1.0], [0.0]], [3, 2, 2, 2, 1]
    found = []
    for order in permutations(range(5)):
        best = sorted(order, key=lambda i: -totals[i])[:2]
        worst = sorted(order, key=lambda i: totals[i])[:2]
        found.append(sum(shares[i][0] for i in best) / 2 - sum(shares[i][0] for i in worst) / 2)
    assert upper_lower(shares, totals, 0.4)[0] == pytest.approx(st.fmean(found))
