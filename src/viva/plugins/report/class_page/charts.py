"""The positions of the parts of a chart, which the templates draw as SVG in the colors of the page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viva.model import Status
from viva.plugins.report.class_page.facts import CurveBand
from viva.plugins.report.class_page.overview import QuestionResult

WIDTH: Final = 680
HEIGHT: Final = 210
_ROW: Final = 24
"""The height of a bar of a question with the space below it."""
_LABEL: Final = 110
"""The width of the labels left of these bars."""
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
class Tick:
    """A labeled position on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Columns:
    """A histogram."""

    bars: tuple[Bar, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    mean: float | None
    """The position of the line of the mean."""


@dataclass(frozen=True, slots=True)
class QuestionBar:
    """The bar of one question."""

    label: str
    bar: Bar


@dataclass(frozen=True, slots=True)
class QuestionBars:
    """The mean share of the points of each question."""

    rows: tuple[QuestionBar, ...]
    height: float


@dataclass(frozen=True, slots=True)
class Lines:
    """A training curve of a class."""

    band: str
    """The points of the polygon between the quartiles."""
    median: str
    dots: tuple[tuple[float, float], ...]
    thresholds: tuple[Bar, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def columns(bins: Sequence[tuple[float, float, int]], mean: float | None) -> Columns:
    """Lay out a histogram of bins (from, to, count)."""
    if not bins:
        return Columns((), (), (), None)
    low, high = bins[0][0], bins[-1][1]
    top = max(1, *(count for _, _, count in bins))
    steps = _steps(0, top, whole=True)
    across = _Axis(low, high, _LEFT, WIDTH - _RIGHT)
    up = _Axis(0, max(top, steps[-1]), HEIGHT - _BOTTOM, _TOP)
    bars = tuple(Bar(across(a) + 1, up(n), across(b) - across(a) - 2, up(0) - up(n)) for a, b, n in bins if n)
    return Columns(
        bars,
        tuple(Tick(across(x), f"{x:g}") for x in _steps(low, high)),
        tuple(Tick(up(y), f"{y:g}") for y in steps),
        None if mean is None else across(min(max(mean, low), high)),
    )


def stacked(counts: dict[Status, int], width: float = 160, height: float = 12) -> list[Bar]:
    """Lay out one bar for each status in a row, each as wide as its share."""
    total = sum(counts.values())
    bars, x = [], 0.0
    for status in Status:
        if n := counts.get(status, 0):
            bars.append(Bar(x, 0, width * n / total, height, status.value))
            x += width * n / total
    return bars


def question_bars(results: Sequence[QuestionResult]) -> QuestionBars:
    """Lay out one horizontal bar for each question, as wide as the mean share of its points."""
    rows = []
    for place, result in enumerate(results):
        y = _TOP + place * _ROW
        width = (WIDTH - _LABEL - _RIGHT) * result.mean_share
        rows.append(QuestionBar(result.question.key, Bar(_LABEL, y, width, _ROW - 6)))
    return QuestionBars(tuple(rows), _TOP + len(rows) * _ROW + 4)


def lines(curve: CurveBand) -> Lines:
    """Lay out the median of a curve, the band between its quartiles, and its thresholds."""
    values = [v for _, low, _, high, _ in curve.rows for v in (low, high)] + [v for _, v in curve.thresholds]
    low, high = min(values), max(values)
    if low > -0.1 and high < 1.1:  # shares are shown from 0 to 1: a zoom would make tiny differences look large
        low, high = min(low, 0.0), max(high, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    last = max([row[0] for row in curve.rows] + [epoch for epoch, _ in curve.thresholds])
    across = _Axis(0.5, last + 0.5, _LEFT, WIDTH - _RIGHT)
    up = _Axis(low, high, HEIGHT - _BOTTOM, _TOP)
    upper = [(across(epoch), up(top)) for epoch, _, _, top, _ in curve.rows]
    lower = [(across(epoch), up(bottom)) for epoch, bottom, _, _, _ in curve.rows]
    middle = tuple((across(epoch), up(median)) for epoch, _, median, _, _ in curve.rows)
    return Lines(
        _points([*upper, *reversed(lower)]),
        _points(middle),
        middle,
        tuple(Bar(across(e - 0.3), up(v) - 1.5, across(e + 0.3) - across(e - 0.3), 3) for e, v in curve.thresholds),
        tuple(Tick(across(x), f"{x:g}") for x in _steps(1, last, whole=True)),
        tuple(Tick(up(y), f"{y:g}") for y in _steps(low, high)),
    )


class _Axis:
    """Maps values to positions."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self._low, self._begin = low, begin
        self._per = (end - begin) / (high - low)

    def __call__(self, value: float) -> float:
        return round(self._begin + (value - self._low) * self._per, 2)


def _steps(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Return four to eight round numbers within a range."""
    raw = max(high - low, 1e-9) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * (1 - 1e-9))
    if whole:
        step = max(1.0, math.ceil(step))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)] or [low]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
