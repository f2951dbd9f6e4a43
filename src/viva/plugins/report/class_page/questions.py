"""Item analysis: the class as a table of responses and questions, and statistics of each question.

A response is the last submission of a student or a team. A question consists of the tests of one number, without those
that are not graded yet for more than one response in five, because their results are still unknown.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from viva.model import Entry
from viva.model.attempt import ScoredAttempt
from viva.model.score import in_order
from viva.model.totals import EXTRA_CREDIT
from viva.plugins.report.class_page import statistics

MOST_OPEN: Final = Fraction(1, 5)
"""The maximum share of responses for which an analyzed test is not graded yet."""


@dataclass(frozen=True, slots=True)
class Question:
    """The tests of one number."""

    key: str
    """The number; the id for a test without a number."""
    names: tuple[str, ...]
    """The names of its tests."""
    points: Fraction
    tests: frozenset[str]


@dataclass(frozen=True, slots=True)
class Item:
    """The statistics of one question."""

    question: Question
    points: Fraction
    """The points of its analyzed tests."""
    difficulty: float
    correlation: float | None
    discrimination: float
    alpha_without: float | None
    remark: str
    """One sentence if the numbers suggest a problem of the question; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The item analysis of a class."""

    responses: int
    left_out: int
    """The number of responses in which an analyzed test is missing or not graded yet."""
    items: tuple[Item, ...]
    alpha: float | None
    why_none: str = ""
    """Why there are no items; empty if there are."""
    not_analysed: Fraction = Fraction(0)
    """The points of tests that are not graded yet for too many responses."""


def responses(marked: Iterable[ScoredAttempt]) -> list[ScoredAttempt]:
    """Return the last submission of each student or team, in the given order; one without students counts by itself."""
    last: dict[object, ScoredAttempt] = {}
    for graded in marked:
        who: object = frozenset(s.id for s in graded.attempt.students) or graded.attempt.name
        before = last.get(who)
        if before is None or before.attempt.number <= graded.attempt.number:
            last[who] = graded
    return list(last.values())


def questions(marked: Sequence[ScoredAttempt]) -> list[Question]:
    """Return every question of the submissions, in the order of the numbers."""
    tests: dict[str, dict[str, Entry]] = {}
    for graded in marked:
        for entry in graded.score.entries:
            tests.setdefault(key_of(entry), {}).setdefault(entry.test_id, entry)
    found = [
        Question(
            key,
            tuple(dict.fromkeys(entry.name for entry in entries.values())),
            sum((entry.points for entry in entries.values()), Fraction(0)),
            frozenset(entries),
        )
        for key, entries in tests.items()
    ]
    return sorted(found, key=lambda q: in_order(next(iter(tests[q.key].values())).number))


def key_of(entry: Entry) -> str:
    """Return the key of the question that a test belongs to; extra credit is a question of its own."""
    key = entry.number or entry.test_id
    return f"{key} (extra)" if EXTRA_CREDIT in entry.tags else key


def analyse(marked: Sequence[ScoredAttempt]) -> Analysis:
    """Compute the item analysis of the responses.

    Args:
        marked: one submission for each student or team, from `responses`.
    """
    every = questions(marked)
    by_test = [{entry.test_id: entry for entry in graded.score.entries} for graded in marked]
    analyzed = _graded_tests(by_test)
    complete = [entries for entries in by_test if all(_is_graded(entries, test) for test in analyzed)]
    points = {test: entry.points for entries in by_test for test, entry in entries.items()}
    open_points = sum((most for test, most in points.items() if test not in analyzed), Fraction(0))
    asked = [q for q in every if sum((points[t] for t in q.tests & analyzed), Fraction(0))]
    common = {"responses": len(complete), "left_out": len(by_test) - len(complete), "not_analysed": open_points}
    if why := _why_none(complete, asked):
        return Analysis(**common, items=(), alpha=None, why_none=why)  # type: ignore[arg-type]
    scores = [[float(sum(e[t].earned for t in q.tests & analyzed)) for q in asked] for e in complete]
    worth = [sum((points[t] for t in q.tests & analyzed), Fraction(0)) for q in asked]
    shares = [[value / float(most) for value, most in zip(row, worth, strict=True)] for row in scores]
    alpha = statistics.cronbach_alpha(scores)
    means, correlations = statistics.difficulty(shares), statistics.corrected_item_total(scores)
    remarks = [_remark(mean, r, len(scores)) for mean, r in zip(means, correlations, strict=True)]
    discriminations = statistics.upper_lower(shares, [sum(row) for row in scores])
    without = statistics.alpha_without(scores)
    items = tuple(map(Item, asked, worth, means, correlations, discriminations, without, remarks))
    return Analysis(**common, items=items, alpha=alpha)  # type: ignore[arg-type]


def _graded_tests(by_test: Sequence[dict[str, Entry]]) -> frozenset[str]:
    """Return the tests that are graded for nearly all responses."""
    tests = {test for entries in by_test for test in entries}
    most = MOST_OPEN * len(by_test)
    return frozenset(t for t in tests if sum(not _is_graded(entries, t) for entries in by_test) <= most)


def _is_graded(entries: dict[str, Entry], test: str) -> bool:
    return test in entries and not entries[test].status.is_open


def _why_none(complete: Sequence[object], asked: Sequence[object]) -> str:
    if not asked:
        return "Not enough submissions are graded for item analysis."
    if len(complete) < statistics.FEWEST_RESPONSES:
        are = "is 1 submission" if len(complete) == 1 else f"are {len(complete)} submissions"
        return (
            f"There {are} in which every test is graded. Item analysis needs at least {statistics.FEWEST_RESPONSES}: "
            "with fewer, its numbers depend mostly on chance."
        )
    return ""


def _remark(difficulty: float, correlation: float | None, responses: int) -> str:
    """Return a remark on a conspicuous question; a negative correlation counts if chance gives it once in 40."""
    if correlation is None and difficulty in (0, 1):
        return "Everyone has the same points, so this question does not distinguish students."
    if correlation is None:
        return ""
    if correlation < -2 / math.sqrt(responses):
        return "Students who do well elsewhere do worse here. Check the question and its key."
    if difficulty < 0.2:
        return "Hardly anyone has it. Check the question, its key, and what was taught."
    return ""
