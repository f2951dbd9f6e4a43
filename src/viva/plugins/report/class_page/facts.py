"""Counts over a class: totals, statuses, missing packages, ungraded points, time, memory, isolation, curves."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from viva.model import Entry, Status, Tier
from viva.model.attempt import ScoredAttempt
from viva.model.score import Curve, in_order
from viva.plugins.report.class_page.statistics import Summary, summary
from viva.plugins.report.lean_attempts import seconds_of_tests

MOST_ERRORS: Final = 200
SLOWEST: Final = 15


@dataclass(frozen=True, slots=True)
class GraderFault:
    """A test that ended with a grader error."""

    attempt: str
    number: str
    name: str
    text: str
    """The message for staff; empty if it was not stored."""


@dataclass(frozen=True, slots=True)
class TestCounts:
    """How often one test ended with each status."""

    test_id: str
    number: str
    name: str
    points: Fraction
    hidden: bool
    counts: dict[Status, int]


@dataclass(frozen=True, slots=True)
class SlowTest:
    """The time that one test took, in seconds."""

    number: str
    name: str
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class CurveBand:
    """One training curve of the class: the median and the quartiles of all submissions that reached each epoch."""

    test_id: str
    name: str
    submissions: int
    rows: tuple[tuple[int, float, float, float, int], ...]
    """Epoch, lower quartile, median, upper quartile, number of submissions that reached the epoch."""
    thresholds: tuple[tuple[int, float], ...]


def grader_faults(marked: Sequence[ScoredAttempt]) -> list[GraderFault]:
    """Return every test that ended with a grader error."""
    return [
        GraderFault(one.attempt.name, entry.number, entry.name, entry.staff_message or entry.message)
        for one in marked
        for entry in one.score.entries
        if entry.status.is_fault
    ]


def test_counts(marked: Sequence[ScoredAttempt]) -> list[TestCounts]:
    """Count the statuses of each test, in the order of the question numbers."""
    firsts: dict[str, Entry] = {}
    counts: dict[str, Counter[Status]] = {}
    for graded in marked:
        for entry in graded.score.entries:
            firsts.setdefault(entry.test_id, entry)
            counts.setdefault(entry.test_id, Counter())[entry.status] += 1
    rows = [
        TestCounts(test_id, e.number, e.name, e.points, e.visibility != "visible", dict(counts[test_id]))
        for test_id, e in firsts.items()
    ]
    return sorted(rows, key=lambda row: in_order(row.number))


def environments(marked: Sequence[ScoredAttempt]) -> list[tuple[str, int]]:
    """Count the submissions for each missing package or incompatible version, most frequent first."""
    counts = Counter(text for graded in marked for text in dict.fromkeys(graded.score.environment))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def totals(marked: Sequence[ScoredAttempt]) -> list[float]:
    """Return the points of each submission, as far as they are graded."""
    return [float(graded.score.earned) for graded in marked]


def most_points(marked: Sequence[ScoredAttempt]) -> Fraction:
    """Return the maximum points of a submission; the largest if the submissions differ."""
    return max((graded.score.points for graded in marked), default=Fraction(0))


def histogram(values: Sequence[float], most: float, bins: int = 20) -> list[tuple[float, float, int]]:
    """Return bins (from, to, count) of equal width from 0 to `most`; values outside count in the first or last bin."""
    if not values or most <= 0:
        return []
    clipped = np.clip(np.asarray(values, dtype=np.float64), 0, most)
    counts, edges = np.histogram(clipped, bins=bins, range=(0, most))
    return [(float(low), float(high), int(n)) for low, high, n in zip(edges, edges[1:], counts, strict=False)]


def seconds(marked: Sequence[ScoredAttempt]) -> Summary | None:
    """Summarize the seconds that submissions took."""
    return summary([graded.score.wall_s for graded in marked])


def memory_mib(marked: Sequence[ScoredAttempt]) -> Summary | None:
    """Summarize the peak GPU memory of the submissions for which it is known."""
    return summary([float(g.peak_mib) for graded in marked if (g := graded.score.gpu) and g.peak_mib is not None])


def slowest_tests(marked: Sequence[ScoredAttempt]) -> list[SlowTest]:
    """Return the tests that take longest, by their median."""
    times: dict[str, list[float]] = {}
    firsts: dict[str, Entry] = {}
    for graded in marked:
        for entry, taken_s in zip(graded.score.entries, seconds_of_tests(graded), strict=True):
            firsts.setdefault(entry.test_id, entry)
            times.setdefault(entry.test_id, []).append(taken_s)
    rows = [SlowTest(firsts[t].number, firsts[t].name, float(np.median(s)), max(s)) for t, s in times.items()]
    return sorted((row for row in rows if row.most > 0), key=lambda row: (-row.median, -row.most))[:SLOWEST]


def isolation(marked: Sequence[ScoredAttempt]) -> list[tuple[str, str, int]]:
    """Return each isolation tier, its missing layers, and the number of submissions that were graded with it."""
    counts = Counter((graded.score.isolation.tier, ", ".join(graded.score.isolation.missing)) for graded in marked)
    return sorted((tier, missing, n) for (tier, missing), n in counts.items())


def below(marked: Sequence[ScoredAttempt], floor: Tier | None) -> list[tuple[str, str]]:
    """Return submissions that were graded with less isolation than the assignment asks for, and their level."""
    return [(one.attempt.name, one.score.isolation.tier) for one in marked if one.score.isolation.is_below(floor)]


def curve_bands(marked: Sequence[ScoredAttempt]) -> list[CurveBand]:
    """Return the training curves of the class, in the order of their first occurrence."""
    found: dict[tuple[str, str], list[Curve]] = {}
    for graded in marked:
        for curve in graded.score.curves:
            if curve.values:
                found.setdefault((curve.test_id, curve.name), []).append(curve)
    return [_band(test_id, name, curves) for (test_id, name), curves in found.items()]


def _band(test_id: str, name: str, curves: Sequence[Curve]) -> CurveBand:
    rows = []
    for epoch in range(max(len(curve.values) for curve in curves)):
        reached = [curve.values[epoch] for curve in curves if len(curve.values) > epoch]
        low, middle, high = (float(q) for q in np.quantile(reached, [0.25, 0.5, 0.75]))
        rows.append((epoch + 1, low, middle, high, len(reached)))
    thresholds = tuple(sorted({mark for curve in curves for mark in curve.thresholds}))
    return CurveBand(test_id, name, len(curves), tuple(rows), thresholds)
