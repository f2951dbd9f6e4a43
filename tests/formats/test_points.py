"""Decimals of exact points add up, and people read no digits that no one gave."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.formats.decimal_points import UNIT, decimal, scores_and_maxima, shares, show, units_of, whole_scores

POINTS = st.lists(st.fractions(min_value=0, max_value=100, max_denominator=60), max_size=30)


@given(POINTS)
def test_shares_add_up(parts: list[Fraction]) -> None:
    units = shares(parts)
    assert sum(units) == round(sum(parts, Fraction(0)) * UNIT)
    assert all(abs(unit - part * UNIT) < 1 for unit, part in zip(units, parts, strict=True))


@given(st.lists(st.tuples(st.fractions(0, 20, max_denominator=60), st.fractions(0, 1, max_denominator=7)), max_size=30))
def test_full_scores_equal_their_maxima(tests: list[tuple[Fraction, Fraction]]) -> None:
    points = [most for most, _ in tests]
    earned = [most * share for most, share in tests]
    pairs = scores_and_maxima(earned, points)
    assert sum(won for won, _ in pairs) == round(sum(earned, Fraction(0)) * UNIT)
    for (won, most), exact_won, exact_most in zip(pairs, earned, points, strict=True):
        assert 0 <= won <= most
        assert (won == most) == (exact_won == exact_most)
        assert abs(most - exact_most * UNIT) <= 2


@given(
    st.lists(st.tuples(st.fractions(0, 20, max_denominator=60), st.fractions(0, 1, max_denominator=7)), max_size=30),
    st.sampled_from([1, 4, 100, Fraction(1, 2)]),
)
def test_whole_scores(tests: list[tuple[Fraction, Fraction]], unit: int | Fraction) -> None:
    points = [most for most, _ in tests]
    earned = [most * share for most, share in tests]
    pairs = whole_scores(earned, points, unit)
    assert [most for _, most in pairs] == shares(points, unit)
    assert sum(most for _, most in pairs) == round(sum(points, Fraction(0)) * unit)
    for (won, most), exact_won, exact_most in zip(pairs, earned, points, strict=True):
        assert isinstance(won, int) and 0 <= won <= most
        assert won == most if exact_won == exact_most else won < most or most == 0
        assert won == 0 or exact_won > 0
    if all((part * unit).denominator == 1 for part in [*points, *earned]):
        assert [won for won, _ in pairs] == [won * unit for won in earned]


def test_largest_remainder() -> None:
    thirds, sixes = [Fraction(10, 3), Fraction(10, 3), Fraction(1, 3)], [Fraction(6)] * 3
    assert whole_scores(thirds, sixes, 1) == [(4, 6), (3, 6), (0, 6)]
    assert whole_scores([Fraction(0)] * 3, sixes, 1) == [(0, 6)] * 3


@given(st.integers(0, 10**12))
def test_decimal_is_read_back(units: int) -> None:
    assert units_of(decimal(units)) == units


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(25, 2), "12.5"),
        (Fraction(10, 3), "3.33"),
        (Fraction(1, 3000), "0.0003"),
        (Fraction(1999, 1000), "2"),
    ],
)
def test_points_are_shown_in_few_digits(points: Fraction, text: str) -> None:
    assert show(points) == text


@given(st.fractions(-100, 100))
def test_losses_are_shown_with_a_sign(points: Fraction) -> None:
    """A loss of a quarter was once shown as -1.75."""
    assert show(-abs(points)) == (f"-{show(abs(points))}" if points else "0")
