"""Item analysis: the class as a table of responses and questions, and statistics of each question.

A response is the last submission of a student or a team. A question consists of the tests of one number, without those
that are not graded yet for more than one response in five, because their results are still unknown. A statistic that is
not defined (because of a variance of zero, or too few columns) is None.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from viva.model import Entry
from viva.model.attempt import ScoredAttempt
from viva.model.score import in_order
from viva.model.totals import EXTRA_CREDIT

Matrix = npt.NDArray[np.float64]
MIN_RESPONSES: Final = 10
"""With fewer responses the numbers would reflect chance more than the questions."""
MAX_OPEN: Final = Fraction(1, 5)
"""The maximum share of responses for which an analyzed test is not graded yet."""
UPPER_LOWER: Final = 0.27
_ROUNDING: Final = 1e-12
"""A variance below this multiple of the squared largest value is a rounding error."""


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

    def remark(self, responses: int) -> str:
        """Return a sentence if the numbers suggest a problem; chance gives a conspicuous correlation once in 40."""
        if self.correlation is None and self.difficulty in (0, 1):
            return "Everyone has the same points, so this question does not distinguish students."
        if self.correlation is None:
            return ""
        if self.correlation < -2 / math.sqrt(responses):
            return "Students who do well elsewhere do worse here. Check the question and its key."
        if self.difficulty < 0.2:
            return "Hardly anyone has it. Check the question, its key, and what was taught."
        return ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The item analysis of a class."""

    responses: int
    left_out: int
    """The number of responses in which an analyzed test is missing or not graded yet."""
    not_analyzed: Fraction
    """The points of tests that are not graded yet for too many responses."""
    items: tuple[Item, ...] = ()
    alpha: float | None = None
    why_none: str = ""
    """Why there are no items; empty if there are."""


def select_responses(marked: Iterable[ScoredAttempt]) -> list[ScoredAttempt]:
    """Return the last submission of each student or team, in the given order; one without students counts by itself."""
    last: dict[object, ScoredAttempt] = {}
    for graded in marked:
        who: object = frozenset(s.id for s in graded.attempt.students) or graded.attempt.name
        before = last.get(who)
        if before is None or before.attempt.number <= graded.attempt.number:
            last[who] = graded
    return list(last.values())


def group_questions(marked: Sequence[ScoredAttempt]) -> list[Question]:
    """Return every question of the submissions, in the order of the numbers."""
    tests: dict[str, dict[str, Entry]] = {}
    for graded in marked:
        for entry in graded.score.entries:
            tests.setdefault(question_key(entry), {}).setdefault(entry.test_id, entry)
    questions = []
    for key, by_id in sorted(tests.items(), key=lambda item: in_order(next(iter(item[1].values())).number)):
        names = tuple(dict.fromkeys(entry.name for entry in by_id.values()))
        points = sum((entry.points for entry in by_id.values()), Fraction(0))
        questions.append(Question(key, names, points, frozenset(by_id)))
    return questions


def question_key(entry: Entry) -> str:
    """Return the key of the question that a test belongs to; extra credit is a question of its own."""
    key = entry.number or entry.test_id
    return f"{key} (extra)" if EXTRA_CREDIT in entry.tags else key


def analyze_items(marked: Sequence[ScoredAttempt]) -> Analysis:
    """Compute the item analysis of the responses.

    Args:
        marked: one submission for each student or team, from `select_responses`.
    """
    by_test = [{entry.test_id: entry for entry in graded.score.entries} for graded in marked]
    points = {test: entry.points for entries in by_test for test, entry in entries.items()}
    limit = MAX_OPEN * len(by_test)
    analyzed = {test for test in points if sum(not _is_graded(entries, test) for entries in by_test) <= limit}
    complete = [entries for entries in by_test if all(_is_graded(entries, test) for test in analyzed)]
    not_analyzed = sum((points[test] for test in points.keys() - analyzed), Fraction(0))
    left_out = len(by_test) - len(complete)
    questions = [(q, sum((points[t] for t in q.tests & analyzed), Fraction(0))) for q in group_questions(marked)]
    questions = [(question, worth) for question, worth in questions if worth]
    if why := _explain_missing(len(complete), len(questions)):
        return Analysis(len(complete), left_out, not_analyzed, why_none=why)
    rows = [[float(sum(e[t].earned for t in q.tests & analyzed)) for q, _ in questions] for e in complete]
    scores = np.array(rows)
    shares = scores / np.array([float(worth) for _, worth in questions])
    difficulties, discriminations = difficulty(shares), upper_lower(shares, scores.sum(axis=1))
    correlations, without = corrected_item_total(scores), alpha_without(scores)
    items = [
        Item(question, worth, difficulties[i], correlations[i], discriminations[i], without[i])
        for i, (question, worth) in enumerate(questions)
    ]
    return Analysis(len(complete), left_out, not_analyzed, tuple(items), cronbach_alpha(scores))


def _is_graded(entries: dict[str, Entry], test: str) -> bool:
    return test in entries and not entries[test].status.is_open


def _explain_missing(complete: int, questions: int) -> str:
    if not questions:
        return "Not enough submissions are graded for item analysis."
    if complete >= MIN_RESPONSES:
        return ""
    there_are = "There is 1 submission" if complete == 1 else f"There are {complete} submissions"
    return (
        f"{there_are} in which every test is graded. Item analysis needs at least {MIN_RESPONSES}: "
        "with fewer, its numbers depend mostly on chance."
    )


# The statistics. A matrix has a row for each response and a column for each question.


def difficulty(shares: npt.ArrayLike) -> list[float]:
    """Compute the mean share of the points of each question: 1 if all responses have full points, 0 if none has any.

    For questions of one point this is the item's p-value (Crocker and Algina 1986, "Introduction to Classical and
    Modern Test Theory", chapter 14). "Difficulty" is the field's word, although a large number means an easy question.
    """
    return [float(mean) for mean in np.asarray(shares, dtype=np.float64).mean(axis=0)]


def corrected_item_total(scores: npt.ArrayLike) -> list[float | None]:
    """Compute the correlation of each question with the total of all others.

    r(X_i, T - X_i): the question is not part of the total, because it would be correlated with itself (Henrysson 1963,
    "Correction of item-total correlations in item analysis", Psychometrika 28).

    Returns:
        None for a question with equal points for all responses, and if the totals of all others are equal.
    """
    matrix: Matrix = np.asarray(scores, dtype=np.float64)
    totals = matrix.sum(axis=1)
    return [_correlate(column, totals - column) for column in matrix.T]


def upper_lower(shares: npt.ArrayLike, totals: npt.ArrayLike, fraction: float = UPPER_LOWER) -> list[float]:
    """Compute the discrimination D: the mean share in the best 27 % by total minus that in the worst 27 %.

    27 % makes the groups as different as possible and still large (Kelley 1939, "The selection of upper and lower
    groups for the validation of test items", Journal of Educational Psychology 30). If several responses with the same
    total are at the border, each counts in part, so that their order does not matter: D is the mean over all orders.
    """
    matrix: Matrix = np.asarray(shares, dtype=np.float64)
    sums: Matrix = np.asarray(totals, dtype=np.float64).round(9)
    size = max(1, round(fraction * len(matrix)))
    return [float(d) for d in (_weigh_best(sums, size) - _weigh_best(-sums, size)) @ matrix / size]


def cronbach_alpha(scores: npt.ArrayLike) -> float | None:
    """Compute Cronbach's alpha: k / (k - 1) · (1 - Σ var(X_i) / var(Σ X_i)).

    Cronbach 1951, "Coefficient alpha and the internal structure of tests", Psychometrika 16; for questions that are
    right or wrong it equals the KR-20 of Kuder and Richardson. Variances use n - 1. Alpha may be negative.

    Returns:
        None for fewer than two questions or responses, and if all totals are equal.
    """
    matrix: Matrix = np.asarray(scores, dtype=np.float64)
    responses, k = matrix.shape
    totals = matrix.sum(axis=1)
    if responses < 2 or k < 2 or not _varies(totals):
        return None
    return float(k / (k - 1) * (1 - matrix.var(axis=0, ddof=1).sum() / totals.var(ddof=1)))


def alpha_without(scores: npt.ArrayLike) -> list[float | None]:
    """Compute Cronbach's alpha without each question; if it is higher, the question does not fit the others."""
    matrix: Matrix = np.asarray(scores, dtype=np.float64)
    return [cronbach_alpha(np.delete(matrix, i, axis=1)) for i in range(matrix.shape[1])]


def _varies(values: Matrix) -> bool:
    return bool(values.var() > _ROUNDING * max(float(np.abs(values).max()) ** 2, 1e-300))


def _correlate(one: Matrix, two: Matrix) -> float | None:
    if len(one) < 2 or not _varies(one) or not _varies(two):
        return None
    return float(np.corrcoef(one, two)[0, 1])


def _weigh_best(sums: Matrix, size: int) -> Matrix:
    """Return the weight of each response in the `size` largest sums; those at the border share the rest."""
    border = np.sort(sums)[-size]
    above, at = sums > border, sums == border
    weights: Matrix = above + at * ((size - above.sum()) / at.sum())
    return weights
