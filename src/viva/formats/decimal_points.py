"""Convert exact points to decimals that add up: the parts of a total, and the total, in ten-thousandths."""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from viva.model.totals import EXTRA_CREDIT, GradedTest, Totals

UNIT: Final = 10_000
"""Four decimal places are written. More would show digits without a meaning (3.3333333333333335)."""


def shares(parts: Sequence[Fraction], unit: int | Fraction = UNIT) -> list[int]:
    """Round parts to units of 1/unit so that they add up to the rounded total (largest remainder first).

    Each is less than one unit away from the exact part.
    """
    whole = [math.floor(part * unit) for part in parts]
    total = round(sum(parts, Fraction(0)) * unit)
    by_remainder = sorted(range(len(parts)), key=lambda i: (whole[i] - parts[i] * unit, i))
    for index in by_remainder[: total - sum(whole)]:
        whole[index] += 1
    return whole


def scores_and_maxima(earned: Sequence[Fraction], points: Sequence[Fraction]) -> list[tuple[int, int]]:
    """Return earned and possible points of each test in units of 1/UNIT.

    The scores add up to the rounded total. A score equals its maximum exactly where all points were earned; for that,
    a maximum may differ by one unit from that of another submission.
    """
    pairs = []
    for won, most, exact_won, exact_most in zip(shares(earned), shares(points), earned, points, strict=True):
        if exact_won >= exact_most:
            pairs.append((won, won))
        else:
            pairs.append((won, max(most, won + 1)))
    return pairs


def whole_scores(earned: Sequence[Fraction], points: Sequence[Fraction], unit: int | Fraction) -> list[tuple[int, int]]:
    """Return scores and maxima in units of 1/unit, for formats that hold whole numbers of coarse units.

    The maxima depend on the points alone, so that they are the same for every submission, and add up to the rounded
    total. A score equals its maximum where all points were earned, and only there unless the maximum is zero; it is
    zero where nothing was earned. Within these bounds the scores are as near to the rounded total as possible.
    """
    maxima = shares(points, unit)
    whole = list(zip(earned, points, maxima, strict=True))
    scores = [most if won >= exact else min(math.floor(won * unit), max(most - 1, 0)) for won, exact, most in whole]
    missing = round(sum(earned, Fraction(0)) * unit) - sum(scores)
    for index in sorted(range(len(scores)), key=lambda i: (scores[i] - earned[i] * unit, i)):
        won, exact, most = whole[index]
        if missing > 0 and 0 < won < exact and scores[index] < most - 1:
            scores[index] += 1
            missing -= 1
    return list(zip(scores, maxima, strict=True))


def total_units(scores: Iterable[int]) -> int:
    """Return the total of scores in units: deductions take no more than was earned."""
    return max(0, sum(scores))


def decimal(units: int) -> float:
    """Return units of 1/UNIT as the nearest float, which prints as that decimal."""
    return units / UNIT


def units_of(points: float) -> int:
    """Return the nearest whole number of units, for any float that is a number; the inverse of `decimal`."""
    return round(Fraction(points) * UNIT)


def show(points: Fraction) -> str:
    """Format points for a person: `12.5`, `33.33`, `7`; rounded, but points above zero never show as zero."""
    hundredths = round(points * 100)
    if points and not hundredths:
        return f"{float(points):.1g}"
    whole, part = divmod(abs(hundredths), 100)
    return f"{'-' if hundredths < 0 else ''}{whole}.{part:02}".rstrip("0").rstrip(".")


def worth_in_words(test: GradedTest) -> str:
    """Return a test's points for a person: `3.5 of 4 points`, `-2 points` for a deduction, or that they are pending."""
    kind = "extra point" if EXTRA_CREDIT in test.tags else "point"
    most = f"{show(test.points)} {kind}{'s' * (test.points != 1)}"
    if test.status.is_open:
        return f"{most}, not graded yet"
    if test.earned < 0:
        return f"{show(test.earned)} point{'s' * (test.earned != -1)}"
    return f"{show(test.earned)} of {most}"


def total_in_words(totals: Totals) -> str:
    """Return a total for a person: `38 of 45 points, 5 more pending`."""
    words = f"{show(totals.earned)} of {show(totals.graded_points)} points"
    return words + (f", {show(totals.still_open)} more pending" if totals.still_open else "")


def in_decimals(points: Fraction, *, least: int = 0) -> str:
    """Format a decimal with at most four places, no exponent, and at least `least` places: `87.50`."""
    text = f"{Decimal(round(points * UNIT)).scaleb(-4):f}"
    whole, _, places = text.partition(".")
    places = places.rstrip("0").ljust(least, "0")
    return f"{whole}.{places}" if places else whole


def column(values: Sequence[Fraction]) -> list[str]:
    """Format points for a column of a table: as wide as the widest, with aligned decimal points."""
    shown = [show(value) for value in values]
    digits = max((len(text.partition(".")[2]) for text in shown), default=0)
    padded = []
    for text in shown:
        whole, _, part = text.partition(".")
        padded.append(f"{whole}.{part.ljust(digits, '0')}" if digits and "e" not in text else text)
    width = max(map(len, padded), default=0)
    return [text.rjust(width) for text in padded]


def signed(points: Fraction) -> str:
    """Format points with their sign: `+3`, `−0.5`, `±0`."""
    return f"{'+' if points > 0 else '−' if points else '±'}{show(abs(points))}"
