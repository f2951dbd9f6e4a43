"""The positions of the parts of a chart, which the templates draw as SVG in the colors of the page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viva.model import Status
from viva.plugins.report.class_counts import CurveBand

WIDTH: Final = 680
HEIGHT: Final = 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 34


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Axes:
    """The labeled positions on both axes."""

    across: list[tuple[float, str]]
    up: list[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram."""

    bars: list[Bar]
    axes: Axes
    mean: float
    """The position of the line of the mean."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A training curve of a class."""

    band: str
    """The points of the polygon between the quartiles."""
    median: str
    dots: list[tuple[float, float]]
    thresholds: list[Bar]
    axes: Axes


def count_bins(values: Sequence[float], most: float, bins: int = 20) -> list[tuple[float, float, int]]:
    """Return bins (from, to, count) of equal width from 0 to `most`; values outside count in the first or last bin."""
    if not values or most <= 0:
        return []
    counts, edges = np.histogram(np.clip(values, 0, most), bins=bins, range=(0, most))
    return [(float(low), float(high), int(n)) for low, high, n in zip(edges, edges[1:], counts, strict=False)]


def lay_out_histogram(bins: Sequence[tuple[float, float, int]], mean: float) -> Histogram | None:
    """Lay out a histogram of bins (from, to, count); return None without bins."""
    if not bins:
        return None
    most, top = bins[-1][1], max(1, *(count for _, _, count in bins))
    steps = _choose_steps(0, top, whole=True)
    across = _make_axis(0, most, _LEFT, WIDTH - _RIGHT)
    up = _make_axis(0, max(top, steps[-1]), HEIGHT - _BOTTOM, _TOP)
    bars = [Bar(across(low) + 1, up(n), across(high) - across(low) - 2, up(0) - up(n)) for low, high, n in bins if n]
    axes = Axes([(across(x), f"{x:g}") for x in _choose_steps(0, most)], [(up(y), f"{y:g}") for y in steps])
    return Histogram(bars, axes, across(min(max(mean, 0), most)))


def lay_out_outcomes(counts: dict[Status, int]) -> list[Bar]:
    """Lay out one bar for each status in a row, each as wide as its share of 160."""
    total, x = sum(counts.values()), 0.0
    bars = []
    for status in Status:
        width = 160 * counts.get(status, 0) / total
        if width:
            bars.append(Bar(x, 0, width, 12, status.value))
        x += width
    return bars


def lay_out_curve(curve: CurveBand) -> Lines:
    """Lay out the median of a curve, the band between its quartiles, and its thresholds."""
    values = [value for _, low, _, high, _ in curve.rows for value in (low, high)]
    values += [value for _, value in curve.thresholds]
    low, high = min(values), max(values)
    if low > -0.1 and high < 1.1:  # shares are shown from 0 to 1: a zoom would make tiny differences look large
        low, high = min(low, 0.0), max(high, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    last = max([row[0] for row in curve.rows] + [epoch for epoch, _ in curve.thresholds])
    across = _make_axis(0.5, last + 0.5, _LEFT, WIDTH - _RIGHT)
    up = _make_axis(low, high, HEIGHT - _BOTTOM, _TOP)
    upper = [(across(epoch), up(value)) for epoch, _, _, value, _ in curve.rows]
    lower = [(across(epoch), up(value)) for epoch, value, _, _, _ in curve.rows]
    dots = [(across(epoch), up(value)) for epoch, _, value, _, _ in curve.rows]
    width = across(0.6) - across(0)
    thresholds = [Bar(across(epoch - 0.3), up(value) - 1.5, width, 3) for epoch, value in curve.thresholds]
    epochs = [(across(x), f"{x:g}") for x in _choose_steps(1, last, whole=True)]
    axes = Axes(epochs, [(up(y), f"{y:g}") for y in _choose_steps(low, high)])
    return Lines(_join_points([*upper, *reversed(lower)]), _join_points(dots), dots, thresholds, axes)


def _make_axis(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    """Return a function from values to positions."""
    return lambda value: round(begin + (value - low) * (end - begin) / (high - low), 2)


def _choose_steps(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Return four to eight round numbers within a range."""
    raw = max(high - low, 1e-9) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * (1 - 1e-9))
    if whole:
        step = max(1.0, math.ceil(step))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)] or [low]


def _join_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
