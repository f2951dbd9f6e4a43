"""Numbers, choices and tables as texts: read or refused soon, and a number that is written out is read as itself."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from tests.fuzz.target import Target, expect, expect_disagreement, expect_sentence
from viva.compare.answers.number import read_number
from viva.compare.answers.table_text import CELLS, read_table
from viva.compare.answers.unreadable import Unreadable
from viva.grading import Disagreement, agree_choice, agree_number, agree_table
from viva.plugins.training.audits import audit_accuracy

MASK = np.triu(np.ones((3, 3)), 1)


def check(data: bytes) -> None:
    """Read the text as each kind of answer."""
    text = data.decode("utf-8", "replace")
    _number(text)
    _table(text)
    asked: tuple[Callable[[], object], ...] = (
        lambda: agree_number(text, 0.4667, atol=1e-3, hints={"turned round": "15/7"}),
        lambda: agree_number(text, 1008100),
        lambda: agree_choice(text, {"A", "C"}, partial=True),
        lambda: agree_choice(text, False),
        lambda: agree_choice(text, {"left to right", "both"}),
        lambda: agree_table(text, MASK),
        lambda: agree_table(text, MASK, up_to=(), partial=False),
    )
    for ask in asked:
        expect_disagreement(ask)
    for finding in audit_accuracy(text, 3270, majority=Fraction(2033, 3270)):
        expect_sentence(finding.text)


def _number(text: str) -> None:
    try:
        readings = read_number(text)
    except Unreadable as why:
        expect_sentence(str(why))
        return
    expect(readings and all(type(reading) is Fraction for reading in readings), "no exact numbers")
    first = readings[0]
    expect(max(first.numerator.bit_length(), first.denominator.bit_length()) < 10_000, "a number of endless digits")
    plain = f"{first.numerator}/{first.denominator}" if first.denominator != 1 else str(first.numerator)
    expect(len(plain) > 190 or read_number(plain)[0] == first, f"{plain} is read as another number")
    if math.isfinite(as_float := float(first) if abs(first) < 10**300 else math.inf):
        expect(float(read_number(as_float)[0]) == as_float, "a float is read as another number")


def _table(text: str) -> None:
    try:
        table = read_table(text)
    except Unreadable as why:
        expect_sentence(str(why))
        return
    rows, columns = table.shape
    expect(rows * columns <= CELLS and all(len(row) == columns for row in table.cells), "no table")
    try:
        agree_table(text, MASK)
    except Disagreement as error:
        expect(0 <= (error.share or 0) < 1, "a share of more than all or less than nothing")


TEXTS = (
    "1,008,100", "1.008.100,5", "7/15", "82.65 %", "1e-3", "1.2·10⁶", "BLEU ≈ 0.8265", "11/12 ≈ 0.917",
    "(7/15)^(1/4)", "about 3 million parameters", "3k", "-0.5", "1½", "10^-3", "4.6 x 10**-1 (rounded)", "1e400",
    "9**9**9", "0/0", "1/0", "A, C", "(a) and c", "AC", "C) because it is", "true", "no", "My answer is: B.",
    "left to right", "nein", "A" * 40, "0 1 1\n0 0 1\n0 0 0", "|a|b|c|\n|-|-|-|\n|0|1|1|\n|0|0|1|\n|0|0|0|",
    "0,1,1\n0,0,1\n0,0,0\n", "x..\n.x.\n", "[[0,1],[0,0]]", "tensor([[False, True], [False, False]])",
    "\ta\tb\na\t0\t-inf\nb\t0\t0", "✓ ✗\n✗ ✓", "0.0 1e0 -1e9\n0 0 l\n", "[" * 300, "71.04", "0.6217125382262997",
    "100 %", "33/51", "70.5%", "inf", "nan",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Answers of the tests."""
    for text in TEXTS:
        yield text.encode()


WORDS = (
    "%", "·10", "⁻³", "≈", "approx. ", "million", "e-", "1/3", "10^", "and ", "true", "False", "tensor(", "dtype=",
    "-inf", "|-|", "\n", "\t", ";", "✓", "✗", "½", "\u2044", "٣", "\u200b", "Answer: ", "(a)", "_", "'", "[[", "]]",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS, longest=1024)
