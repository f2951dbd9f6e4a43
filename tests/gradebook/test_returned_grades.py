"""Rounding happens once, at the end; open grades are not handed back unless asked for."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gradebook_class import ADA, BO, POLICY, handed
from viva.config.policy import Rounding
from viva.formats.decimal_points import in_decimals
from viva.plugins.cohorts.gradebook.final_grades import compute_final_grades, round_grades, round_points

Half = Literal["even", "up"]


@pytest.mark.parametrize(
    ("points", "to", "half", "result"),
    [
        ("5/2", "1", "even", "2"),
        ("5/2", "1", "up", "3"),
        ("7/2", "1", "even", "4"),
        ("1/8", "0.01", "even", "0.12"),
        ("1/8", "0.01", "up", "0.13"),
        ("100/3", "0.01", "even", "33.33"),
        ("100/3", "0.5", "even", "33.5"),
        ("0", "0.5", "up", "0"),
    ],
)
def test_known_roundings(points: str, to: str, half: Half, result: str) -> None:
    assert in_decimals(round_points(Fraction(points), Rounding(Fraction(to), half))) == result


@given(st.integers(0, 10**7), st.sampled_from(["even", "up"]))
def test_rounding_agrees_with_decimal(thousandths: int, half: Half) -> None:
    mode = ROUND_HALF_EVEN if half == "even" else ROUND_HALF_UP
    oracle = (Decimal(thousandths) / 1000).quantize(Decimal("0.01"), mode)
    assert round_points(Fraction(thousandths, 1000), Rounding(half=half)) == Fraction(oracle)


@pytest.mark.parametrize(
    ("points", "least", "text"), [("0", 2, "0.00"), ("87.5", 2, "87.50"), ("100", 0, "100"), ("1/10000", 0, "0.0001")]
)
def test_decimals_have_no_exponent(points: str, least: int, text: str) -> None:
    assert in_decimals(Fraction(points), least=least) == text


def test_open_grades_only_when_asked_for() -> None:
    grades = compute_final_grades(
        [handed(Fraction(200, 3), still_open=5), handed(Fraction(1, 3), students=(BO,))], [ADA, BO], POLICY
    )
    assert [grade.points for grade in round_grades(grades, Rounding())] == [None, Fraction(33, 100)]
    pending = round_grades(grades, Rounding(), with_open=True)
    assert [grade.points for grade in pending] == [Fraction(6667, 100), Fraction(33, 100)]
    assert pending[0].why == "5 more points are pending: they are not graded yet."
    assert pending[0].earned == Fraction(200, 3)
