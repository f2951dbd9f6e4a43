"""Exact points become decimals that add up: the parts of a total, and the total, in ten-thousandths."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

UNIT: Final = 10_000
"""Decimals that are written: four. More would show digits that nobody gave (3.3333333333333335)."""


def shares(parts: Sequence[Fraction]) -> list[int]:
    """The parts in units of 1/UNIT such that they add up to the rounded total (largest remainder first).

    Each is less than one unit away from the exact part.
    """
    whole = [part.numerator * UNIT // part.denominator for part in parts]
    total = round(sum(parts, Fraction(0)) * UNIT)
    by_remainder = sorted(range(len(parts)), key=lambda i: (whole[i] - parts[i] * UNIT, i))
    for index in by_remainder[: total - sum(whole)]:
        whole[index] += 1
    return whole


def earned_units(earned: Fraction, points: Fraction, most: int) -> int:
    """What was earned of `most` units; all of them only for all points."""
    if earned >= points:
        return most
    return max(0, min(round(earned * UNIT), most - 1))


def decimal(units: int) -> float:
    """Units of 1/UNIT as the nearest float, which prints as that decimal."""
    return units / UNIT


def show(points: Fraction, *, digits: int = 2) -> str:
    """Points for a person: `12.5`, `33.33`, `7`; a part of something never shows as nothing."""
    text = f"{float(points):.{digits}f}".rstrip("0").rstrip(".")
    if points and text in ("0", "-0"):
        return f"{float(points):.1g}"
    return text
