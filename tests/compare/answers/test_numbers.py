# ruff: noqa: E501  (tables of answers, one group to a line)
"""Numbers as questions ask for them; the message never gives the expected one away."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.grading import Disagreement, agree_number

BLEU = (7 / 15) ** 0.25

RIGHT: dict[Any, list[Any]] = {
    1_008_100: [
        1_008_100, 1008100.0, "1008100", "1,008,100", "1 008 100", "1\u202f008\u202f100", "1\u00a0008\u00a0100",
        "1'008'100", "1’008’100", "1_008_100", "1008100.00", "1,008,100.0", "1.0081e6", "1.0081E+06",
        "1.0081·10^6", "1.0081 × 10⁶", "1.0081*10**6", "1.0081x10^6", "１００８１００", "10^6 + 8100", " 1008100\n", "1008100.",
        "4x252025", "2 x 504050", r"$1\,008\,100$", r"$1{,}008{,}100$", r"\boxed{1008100}", '"1008100"', "_1008100_",
        "**1.0081*10**6**", "+1008100", np.int64(1_008_100), np.array([1_008_100]), torch.tensor(1_008_100), [1_008_100],
        Fraction(1_008_100), Decimal("1008100"), "2016200/2",
    ],
    BLEU: [
        0.8265, 0.8266, "0.8265", ".8265", "0,8265", "82.65 %", "82.65%", "82,65 %", r"82.65\%", "(7/15)^(1/4)", "8.265e-1",
        "8.265·10⁻¹", "8.265 x 10^-1", "exp(log(7/15)/4)", "√√(7/15)", "np.exp(np.log(7/15)/4)", r"\sqrt[4]{7/15}",
        "pow(7/15, 1/4)", np.float32(BLEU), torch.tensor([BLEU]), "**0.8265**",
    ],
    Fraction(11, 12): [
        "11/12", "11 / 12", "11⁄12", "¹¹⁄₁₂", "22/24", "0.9167", ".917", "1 - 1/12", "91.67 %", Fraction(11, 12),
        Decimal("0.91667"), 11 / 12, "\\frac{11}{12}", r"\frac7{15} + 9/20",
    ],
    0.12: ["0.12", "12%", "0.15 x 0.8", "$12\\%$", "3/25"],
    1.5: ["1½", "1.5", "3/2", "1,5", "1 + 1/2"],
    -3: ["-3", "−3", "–3", "- 3", -3],
    0: ["0", 0, 0.0, "0.00", "-0", "0 %"],
    1e-3: ["1e-3", "0.001", "10^-3", "10⁻³", "1/1000", "0.1 %", "1·10^{-3}"],
}  # fmt: skip
FOR_A_PERSON = [
    "≈0.8265", "BLEU = 0.8265", "82.65 percent", "The BLEU score is 0.8265", "0.8265 (rounded)", "7/9 (0.778)", "(2)(3)", "0.8265 or 0.7",
    "11/12 ≈ 0.92", "three", "7 of 15", "1.0081 million", "1008.1k", "1,008,100 parameters", "not 0.8265", "> 0.8265", "15 % * 80 %",
    "1.008.100", "1 ‰", "about 3",
]  # fmt: skip
"""Words, signs and second numbers: whoever marks decides what they say."""


def test_sentence_is_left_to_a_person() -> None:
    with Rows() as row:
        for answer in FOR_A_PERSON:
            with row(answer), pytest.raises(Disagreement, match="write the number alone") as raised:
                agree_number(answer, BLEU, atol=5e-4)
            assert raised.value.is_unreadable


def test_right_number() -> None:
    with Rows() as row:
        for expected, answers in RIGHT.items():
            for answer in answers:
                with row(expected, answer):
                    agree_number(answer, expected)


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        (1_008_100, ["1008101", "1,008,101", "1008100.5", "1,008", "100810", "-1008100", 1_003_200, "1.008"]),
        (BLEU, ["0.83", "0.82", "0.842363", "82.65", "-0.8265", "0.8265 %", "0.008265", 1, 0, "0.8", "8265"]),
        (Fraction(11, 12), ["12/11", "11/13", "0.92", "0.9", "11", "12", "11,12", "10/12"]),
        (0.5, ["0.5 %", "50", "5", "1/3", ".05"]),
        (0, ["1", "0.1", "1e-3", "1 %"]),
        (100, ["100.1", "99.99", "101", "1e3"]),
    ],
)
def test_wrong_number(expected: Any, answers: list[Any]) -> None:
    for answer in answers:
        with pytest.raises(Disagreement) as raised:
            agree_number(answer, expected)
        message = str(raised.value)
        assert message.isprintable()
        assert raised.value.share is None
        assert not expected or f"{float(expected):.4g}" not in message.replace(str(answer), "")
        assert raised.value.expected


NO_NUMBER = [
    "", "  ", None, "abc", "none", "see my notebook", True, False, "0.8 or 0.9", "0.8; 0.9", "between 0.8 and 0.9",
    "0.8 = 0.9", "82.65 % (90 %)", "1:2", float("nan"), float("inf"), "nan", "inf", "9**9**9**9", "1/0", "x^2", [1, 2], {"a": 1},
    1j, "1 2 3", "1,2,3", "12 m", "import os", "__import__('os')", "9" * 1000, "(" * 150, object(), b"1", "²", "10^99999",
    np.array([1.0, 2.0]), "P1", "1-", "0x10", "1,008,10", ".",
]  # fmt: skip


def test_no_number() -> None:
    with Rows() as row:
        for answer in NO_NUMBER:
            with row(answer):
                with pytest.raises(
                    Disagreement, match=r"cannot be read as a number|is empty; expected a number"
                ) as raised:
                    agree_number(answer, 0.8265)
                assert str(raised.value).isprintable()
                assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("1e400", r"1e400 is not the number asked for\.$"),
        ("1e400/7", "it is not finite"),
    ],
)
def test_number_beyond_floats(answer: Any, says: str) -> None:
    """A fraction beyond all floats ended the test by an OverflowError, as if the form of the answer were strange."""
    with pytest.raises(Disagreement, match=says):
        agree_number(answer, 0.8265)


def test_ambiguous_comma() -> None:
    agree_number("1,008", 1008)
    agree_number("0,826", 0.826)
    agree_number("82,650 %", 0.8265)
    for answer, other in [("1,008", 1.008), ("-1,200", -1.2), ("1.008", 1008), ("0,826", 826), ("82,650 %", 826.5)]:
        with pytest.raises(Disagreement):
            agree_number(answer, other)
    with pytest.raises(Disagreement, match=r"It was read as 1008\."):
        agree_number("1,008", 7)


def test_per_cent() -> None:
    agree_number("82.65 %", 82.65)
    agree_number("82.65 %", 0.8265)
    with pytest.raises(Disagreement):
        agree_number("0.5 %", 0.5)
    with pytest.raises(Disagreement, match="write % behind it"):
        agree_number("82.65", 0.8265)
    agree_number("82.65", 0.8265, accept=[82.65])


def test_tolerances_are_kept_exactly() -> None:
    agree_number("0.83", BLEU, atol=5e-3)
    agree_number(104, 100, rtol=0.05)
    agree_number("0.8270", BLEU, atol=5e-4)
    agree_number(0.0015, 0.001, atol=0.0005)  # exactly on the edge
    tolerances: list[dict[str, Any]] = [{"atol": 1e-5}, {"rtol": 1e-5}, {"atol": 0, "rtol": 0}]
    for tolerance in tolerances:
        with pytest.raises(Disagreement):
            agree_number("0.8266", BLEU, **tolerance)


def test_accepted_numbers_and_hints() -> None:
    accept = [0.842363, "5/6"]
    agree_number("0.8424", BLEU, accept=accept)
    agree_number("0.8333", BLEU, accept=accept)
    hints = {"the counts are not clipped": lambda: 1, "the arithmetic mean was taken": 0.828157}
    with pytest.raises(Disagreement, match=r"0\.8282 is not the number asked for\.$") as raised:
        agree_number("0.8282", BLEU, hints=hints)
    assert raised.value.feedback == "It equals a known mistake: the arithmetic mean was taken."
    with pytest.raises(Disagreement) as raised:
        agree_number("0.7", BLEU, hints=hints)
    assert raised.value.hint is None


def test_rounded_number() -> None:
    with pytest.raises(Disagreement, match="keep more digits on the way"):
        agree_number("0.83", BLEU)


def test_expected_number_as_text() -> None:
    agree_number(0.9167, "11/12")
    with pytest.raises(ValueError, match="is not a number"):
        agree_number(1, "a few")
    with pytest.raises(ValueError, match="is not a number"):
        agree_number(1, 1, accept=["x"])


@given(st.integers(-(10**12), 10**12))
def test_grouped_digits(value: int) -> None:
    grouped = f"{value:,}"
    for text in (f"{value}", grouped, f"{value:_}", grouped.replace(",", " "), grouped.replace(",", "'")):
        agree_number(text, value)
        with pytest.raises(Disagreement):
            agree_number(text, value + 10**13)


@given(st.floats(1e-6, 1e6))
def test_float_notations(value: float) -> None:
    for text in (repr(value), f"{value:e}", f"{value * 100!r} %", f"{value:.12f}".replace(".", ",")):
        agree_number(text, value)
