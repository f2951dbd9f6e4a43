"""Answers with numbers that take a machine's lifetime to write out or to compare."""

import decimal
import fractions

HUGE = 1 << 60_000_000


def number(x):
    return HUGE


def array(x):
    return [[fractions.Fraction(HUGE >> 30_000_000, 3)] * 4] * 3


def text(word):
    return decimal.Decimal("1e999999999")


def table(words):
    return {"a": decimal.Decimal(10) ** 999_999, "bc": -HUGE}


def items(n):
    return [1 << 20_000_000] * 4
