"""Counts over a class: outcomes of tests, times, curves, common wrong answers, and submissions that need attention.

Each function takes one submission for each student or team, from `select_responses`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import fmean, median
from typing import Final

import numpy as np

from viva.formats import escaping
from viva.model import Case, Entry, Status
from viva.model.attempt import ScoredAttempt
from viva.model.hand_grading import feedback_of
from viva.model.score import Curve, in_order
from viva.plugins.report.item_analysis import Question, group_questions, question_key
from viva.plugins.report.lean_attempts import seconds_of_tests

MAX_CLUSTERS: Final = 8
"""The maximum number of clusters of a test."""
UNKNOWN: Final = "hidden test; the records that were read do not hold what went wrong"
_MAX_READ: Final = 4000
"""The number of characters of a message that are read."""
_MAX_KEY: Final = 300
_MAX_SLOWEST: Final = 15
_MAX_LOST: Final = 3
"""The maximum number of questions that are named as a reason for few points."""
_MISTAKE: Final = re.compile(r"It equals a known mistake: ([^\n]{1,300})")
_NUMBER: Final = re.compile(r"(?<![\w.*^/])[-+−]?\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w*^/(]|\.\d)")
"""A number by itself: the digits of 4*d**2, 2(d+1) and 11/12 are part of what the student wrote."""
_NUMBERS: Final = re.compile(r"#(?:, #)+")
_LOW: Final = Fraction(1, 2)
"""A submission with less than this share of its graded points needs attention."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary statistics of a list of numbers."""

    count: int
    mean: float
    sd: float | None
    """The standard deviation with n - 1; None for fewer than two values."""
    low: float
    quartiles: tuple[float, float, float]
    high: float


@dataclass(slots=True)
class OutcomeCounts:
    """How often one test ended with each status, and how long it took."""

    entry: Entry
    """The test of one of the submissions."""
    counts: "Counter[Status]" = field(default_factory=Counter)
    times_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CurveBand:
    """One training curve of the class: the median and the quartiles of all submissions that reached each epoch."""

    test_id: str
    name: str
    submissions: int
    rows: tuple[tuple[int, float, float, float, int], ...]
    """Epoch, lower quartile, median, upper quartile, number of submissions that reached the epoch."""
    thresholds: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """One wrong answer."""

    text: str
    is_known_mistake: bool
    count: int
    """The number of students or teams."""
    example: str
    """The name of a submission with it."""


@dataclass(slots=True)
class WrongAnswers:
    """The wrong answers to one test."""

    entry: Entry
    students: int = 0
    """The number of students or teams who did not get full points."""
    examples: dict[tuple[str, bool], list[str]] = field(default_factory=dict)
    """The names of the submissions by the text of the answer and whether it is a known mistake."""

    @property
    def clusters(self) -> list[Cluster]:
        """Return the answers of two or more students, and every known mistake; most frequent first."""
        ranked = sorted(self.examples.items(), key=lambda item: (-len(item[1]), item[0]))
        clusters = [Cluster(text, known, len(names), names[0]) for (text, known), names in ranked]
        return [cluster for cluster in clusters if cluster.count > 1 or cluster.is_known_mistake][:MAX_CLUSTERS]

    @property
    def others(self) -> int:
        """Return the number of wrong answers that are in none of the clusters."""
        return sum(map(len, self.examples.values())) - sum(cluster.count for cluster in self.clusters)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """How a class did in one question."""

    question: Question
    graded: int
    """The number of submissions in which all its tests are graded."""
    mean_share: float
    """The mean share of its points."""
    full: int
    """The number of submissions with all its points."""


@dataclass(frozen=True, slots=True)
class Attention:
    """A submission that someone should look at."""

    attempt: str
    earned: Fraction
    points: Fraction
    """The graded points."""
    why: str


def summarize(values: Sequence[float]) -> Summary | None:
    """Compute count, mean, standard deviation, and the five numbers of a box plot; None for no values.

    Quartiles are interpolated between order statistics (Hyndman and Fan 1996, "Sample quantiles in statistical
    packages", type 7, which R and numpy use).
    """
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    low, first, middle, third, high = (float(q) for q in np.quantile(array, [0, 0.25, 0.5, 0.75, 1]))
    sd = float(array.std(ddof=1)) if len(array) > 1 else None
    return Summary(len(array), float(array.mean()), sd, low, (first, middle, third), high)


def count_outcomes(marked: Sequence[ScoredAttempt]) -> list[OutcomeCounts]:
    """Count the statuses of each test, in the order of the question numbers."""
    tests: dict[str, OutcomeCounts] = {}
    for graded in marked:
        for entry, seconds in zip(graded.score.entries, seconds_of_tests(graded), strict=True):
            test = tests.setdefault(entry.test_id, OutcomeCounts(entry))
            test.counts[entry.status] += 1
            test.times_s.append(seconds)
    return sorted(tests.values(), key=lambda test: in_order(test.entry.number))


def find_slowest(outcomes: Sequence[OutcomeCounts]) -> list[tuple[Entry, float, float]]:
    """Return the tests that take longest by their median, with the median and the maximum in seconds."""
    rows = [(test.entry, median(test.times_s), max(test.times_s)) for test in outcomes]
    return sorted((row for row in rows if row[2] > 0), key=lambda row: (-row[1], -row[2]))[:_MAX_SLOWEST]


def count_environments(marked: Sequence[ScoredAttempt]) -> list[tuple[str, int]]:
    """Count the submissions for each missing package or incompatible version, most frequent first."""
    counts = Counter(text for graded in marked for text in dict.fromkeys(graded.score.environment))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def count_isolation(marked: Sequence[ScoredAttempt]) -> list[tuple[str, str, int]]:
    """Return each isolation level, its missing layers, and the number of submissions that were graded with it."""
    counts = Counter((graded.score.isolation.tier, ", ".join(graded.score.isolation.missing)) for graded in marked)
    return sorted((tier, missing, n) for (tier, missing), n in counts.items())


def find_curve_bands(marked: Sequence[ScoredAttempt]) -> list[CurveBand]:
    """Return the training curves of the class, in the order of their first occurrence."""
    curves: dict[tuple[str, str], list[Curve]] = {}
    for graded in marked:
        for curve in graded.score.curves:
            if curve.values:
                curves.setdefault((curve.test_id, curve.name), []).append(curve)
    return [_join_curves(test_id, name, group) for (test_id, name), group in curves.items()]


def _join_curves(test_id: str, name: str, curves: Sequence[Curve]) -> CurveBand:
    rows = []
    for epoch in range(max(len(curve.values) for curve in curves)):
        reached = [curve.values[epoch] for curve in curves if len(curve.values) > epoch]
        low, middle, high = (float(q) for q in np.quantile(reached, [0.25, 0.5, 0.75]))
        rows.append((epoch + 1, low, middle, high, len(reached)))
    thresholds = tuple(sorted({mark for curve in curves for mark in curve.thresholds}))
    return CurveBand(test_id, name, len(curves), tuple(rows), thresholds)


def collect_wrong_answers(marked: Sequence[ScoredAttempt]) -> list[WrongAnswers]:
    """Return the wrong answers to each test that some students failed, in question order; prose is left out.

    Messages that differ only in numbers are one answer. A student counts once in it, whatever the number of cases.
    """
    tests: dict[str, WrongAnswers] = {}
    for graded in marked:
        for entry in graded.score.entries:
            if not entry.status.is_wrong or entry.rubric:  # a marker's comment is not the answer of a program
                continue
            test = tests.setdefault(entry.test_id, WrongAnswers(entry))
            test.students += 1
            for key in set(_read_answers(entry)):
                test.examples.setdefault(key, []).append(graded.attempt.name)
    return sorted(tests.values(), key=lambda test: in_order(test.entry.number))


def _read_answers(entry: Entry) -> Iterator[tuple[str, bool]]:
    for case in entry.cases:
        text = _staff_text(entry, case)
        if case.status.is_wrong and text == UNKNOWN:
            yield text, False
        elif case.status.is_wrong and text:
            yield normalize_message(text)


def _staff_text(entry: Entry, case: Case) -> str:
    """Return the message of a case for staff: the comparison itself if the student reads a fixed sentence."""
    if case.staff_message and (entry.visibility != "visible" or entry.hide_errors is not None):
        return case.staff_message
    if entry.visibility != "visible":
        return UNKNOWN
    return "\n".join([case.message, *feedback_of(case.staff_message)])


def normalize_message(message: str) -> tuple[str, bool]:
    """Return a message with its numbers replaced by #, and whether it names a known mistake."""
    text = escaping.terminal(message, characters=_MAX_READ)
    if match := _MISTAKE.search(text):
        return escaping.line(match[1].rstrip(), characters=_MAX_KEY).rstrip("."), True
    first = escaping.line(text.strip().partition("\n")[0], characters=_MAX_KEY)
    return _NUMBERS.sub("#, …", _NUMBER.sub("#", first)), False


def rank_questions(marked: Sequence[ScoredAttempt]) -> list[QuestionResult]:
    """Return each question that is graded for at least one submission; of equal ones that with fewer full points first.

    The hardest question, with the lowest mean share of its points, comes first.
    """
    by_test = [{entry.test_id: entry for entry in graded.score.entries} for graded in marked]
    results = []
    for question in group_questions(marked):
        shares = []
        for tests in by_test:
            entries = [tests[test] for test in question.tests if test in tests]
            points = sum((entry.points for entry in entries), Fraction(0))
            if points and len(entries) == len(question.tests) and not any(entry.status.is_open for entry in entries):
                shares.append(float(sum((entry.earned for entry in entries), Fraction(0)) / points))
        if shares:
            full = sum(share >= 1 for share in shares)
            results.append(QuestionResult(question, len(shares), fmean(shares), full))
    return sorted(results, key=lambda result: (result.mean_share, result.full))


def list_attention(marked: Sequence[ScoredAttempt]) -> list[Attention]:
    """Return the submissions with few points, the fewest first, and why each may have so few."""
    rows = []
    for graded in marked:
        points = graded.score.totals.graded_points
        if points and graded.score.earned < _LOW * points:
            rows.append(Attention(graded.attempt.name, graded.score.earned, points, _explain_loss(graded)))
    return sorted(rows, key=lambda row: (row.earned / row.points, row.attempt))


def _explain_loss(graded: ScoredAttempt) -> str:
    """Return the likeliest cause of few points, as far as the score shows it."""
    score = graded.score
    if score.environment:
        return f"needs another environment: {score.environment[0]}"
    if not score.earned and score.notes:
        return score.notes[0].partition("\n")[0]
    if not score.earned:
        return "earned no points"
    lost: dict[str, Fraction] = {}
    for entry in score.entries:
        if not entry.status.is_open and entry.earned < entry.points:
            key = question_key(entry)
            lost[key] = lost.get(key, Fraction(0)) + entry.points - entry.earned
    most = sorted(lost, key=lambda key: (-lost[key], key))[:_MAX_LOST]
    return f"lost most points in {', '.join(most)}"
