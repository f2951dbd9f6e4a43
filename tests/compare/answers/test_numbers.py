# ruff: noqa: E501  (tables of answers, one group to a line)
"""Numbers as students write them; the message never gives the expected one away."""

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
        "1'008'100", "1’008’100", "1_008_100", "1.008.100", "1008100.00", "1,008,100.0", "1.0081e6", "1.0081E+06",
        "1.0081·10^6", "1.0081 × 10⁶", "1.0081*10**6", "1.0081x10^6", "1.0081 million", "1008.1k", "1,008,100 parameters",
        "about 1,008,100.", "= 1008100", "N = 1,008,100", "total: 1008100", "１００８１００", "10^6 + 8100", " 1008100\n",
        "4x252025", "2 x 504050", r"$1\,008\,100$", r"$1{,}008{,}100$", r"\boxed{1008100}", r"1008100 \text{ weights}", '"1008100"', "_1008100_",
        "It has 1008100 parameters", "We get 1008100.", "1008100 weights and biases", "1,008,100 (≈ 1M)", "1008100 ≈ 1M", "1.008M ≈ 1008100",
        "=> 1008100", "1008100 (1.0081e6)", "exactly 1008100", "**1.0081*10**6**",
        "+1008100", np.int64(1_008_100), np.array([1_008_100]), torch.tensor(1_008_100), [1_008_100], Fraction(1_008_100),
        Decimal("1008100"), "1008100 (weights and biases)", "2016200/2",
    ],
    BLEU: [
        0.8265, 0.8266, "0.8265", ".8265", "0,8265", "≈0.8265", "≈ 0.826", "~0.8265", "BLEU = 0.8265", "BLEU: 0.8265",
        "BLEU≈0.8265", "82.65 %", "82.65%", "82,65 %", "82.65 percent", "82.65 per cent", "(7/15)^(1/4)", "(7/15)^(1/4) ≈ 0.83", "8.265e-1",
        "8.265·10⁻¹", "8.265 x 10^-1", "0.8265 (rounded)", "approx. 0.8265", "exp(log(7/15)/4)", "√√(7/15)", "np.exp(np.log(7/15)/4)", r"\sqrt[4]{7/15}", "pow(7/15, 1/4)",
        np.float32(BLEU), torch.tensor([BLEU]), "P1·P2 = 0.8265",
    ],
    Fraction(11, 12): [
        "11/12", "11 / 12", "11/12 (0.917)", "11/12 (91.7 %)", "11⁄12", "¹¹⁄₁₂", "22/24", "0.9167", ".917", "11/12 ≈ 0.92", "P1=11/12=0.9167", "1 - 1/12",
        "91.67 %", Fraction(11, 12), Decimal("0.91667"), 11 / 12, "\\frac{11}{12}",
    ],
    0.12: ["0.12 (12 %)", "12% (0.12)", "15 % * 80 %", "80% · 15% = 12 %", "0.15 x 0.8", "$12\\%$", "0.15 (0.8)", "12 % (3/25)"],
    1.5: ["1½", "1.5", "3/2", "1,5", "1 + 1/2"],
    -3: ["-3", "minus 3", "−3", "–3", "- 3", -3, "x = -3"],
    3: ["three", "Three", "three (3)", "only 3", "3 (three)"],
    Fraction(7, 15): ["7 of 15", "7 out of 15", "7/15 = 0.4667", r"\frac7{15}", r"\frac{7}{15}"],
    0: ["0", "zero", 0, 0.0, "0.00", "-0", "0 %"],
    1e-3: ["1e-3", "0.001", "10^-3", "10⁻³", "1/1000", "0.1 %", "1·10^{-3}", "1 per mille", "1 ‰", "0.001 (1e-3)", "0.1 per cent"],
}  # fmt: skip


SENTENCES = [
    "The BLEU score is 0.8265", r"\approx 0.8265", "**0.8265**", r"BLEU \approx 0.8265", r"82.65\%", "It is 0.8265.",
]  # fmt: skip
UNDECIDED = ["We do not get 0.8265", "It never is 0.8265", "It does not have 0.8265", "BLEU hardly gets 0.8265", "at least 0.8265", "> 0.8265", "more than 0.8265", "0.8265 and counting", "it is not 0.8265", "We get less than 0.8265", "0.8265 (0.7)", "0.8265 times two", "0.8265 or 0.7", "0.8265, but BLEU is at most 0.5", "not 0.8265", "0.82 to 0.83", "0.8265 if BP = 0.5", "It is not 0.8265", "0.8265 plus the penalty", "0.8265 or less", "0.8265 and the square of it"]  # fmt: skip


def test_number_in_a_sentence() -> None:
    with Rows() as row:
        for answer in SENTENCES:
            with row(answer):
                agree_number(answer, BLEU, atol=5e-4)
        for answer in UNDECIDED:
            with row(answer), pytest.raises(Disagreement):
                agree_number(answer, BLEU, atol=5e-4)


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
    "0.8 = 0.9", "82.65 % (90 %)", "1:2", float("nan"), float("inf"), "nan", "inf", "1e999", "9**9**9**9", "1/0", "x^2", [1, 2], {"a": 1},
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
        ("1e400/7 tokens", r"not the number asked for\. \(It was read as a whole number of about 400 digits\.\)"),
        ("1e400/7 = 3", "different numbers, a whole number of about 400 digits and 3;"),
        ("7/1e400 = 3", "different numbers, 0 and 3;"),
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
    for text in (repr(value), f"{value:e}", f"{value * 100!r} %", f"x ≈ {value!r}", f"{value:.12f}".replace(".", ",")):
        agree_number(text, value)
