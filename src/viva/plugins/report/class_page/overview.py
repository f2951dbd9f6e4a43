"""Answers to what an instructor asks first: which questions were hard, what went wrong, who needs attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Final

from viva.model.attempt import ScoredAttempt
from viva.plugins.report.class_page.clusters import Cluster, WrongAnswers
from viva.plugins.report.class_page.questions import Question, key_of, questions

MOST_MISTAKES: Final = 10
"""The maximum number of wrong answers in the list of the most frequent ones."""
MOST_LISTED: Final = 30
"""The maximum number of submissions in the list of those that need attention."""
_MOST_QUESTIONS: Final = 3
_LOW: Final = Fraction(1, 2)
"""A submission with less than this share of its graded points needs attention."""


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


def question_results(marked: Sequence[ScoredAttempt]) -> list[QuestionResult]:
    """Return the results of each question that is graded for at least one submission, in the order of the numbers.

    Args:
        marked: one submission for each student or team, from `responses`.
    """
    by_test = [{entry.test_id: entry for entry in one.score.entries} for one in marked]
    found = []
    for question in questions(marked):
        shares = []
        for entries in by_test:
            own = [entries[test] for test in question.tests if test in entries]
            most = sum((entry.points for entry in own), Fraction(0))
            if most and len(own) == len(question.tests) and not any(entry.status.is_open for entry in own):
                shares.append(sum((entry.earned for entry in own), Fraction(0)) / most)
        if shares:
            full = sum(share >= 1 for share in shares)
            found.append(QuestionResult(question, len(shares), fmean(map(float, shares)), full))
    return found


def hardest_first(results: Sequence[QuestionResult]) -> list[QuestionResult]:
    """Return the questions by their mean share; of equal ones the one with fewer full points comes first."""
    return sorted(results, key=lambda result: (result.mean_share, result.full))


def most_frequent(wrong: Sequence[WrongAnswers]) -> list[tuple[WrongAnswers, Cluster]]:
    """Return the wrong answers that most students gave, over all tests."""
    pairs = [(test, cluster) for test in wrong for cluster in test.clusters if cluster.count > 1]
    return sorted(pairs, key=lambda pair: -pair[1].count)[:MOST_MISTAKES]


def attention(marked: Sequence[ScoredAttempt]) -> list[Attention]:
    """Return the submissions with few points, the fewest first, and why each may have so few."""
    found = []
    for one in marked:
        score = one.score
        graded = score.totals.graded_points
        if graded and score.earned < _LOW * graded:
            found.append(Attention(one.attempt.name, score.earned, graded, _why(one)))
    return sorted(found, key=lambda each: (each.earned / each.points, each.attempt))


def _why(one: ScoredAttempt) -> str:
    """Return the likeliest cause of few points, as far as the score shows it."""
    score = one.score
    if score.environment:
        return f"needs another environment: {score.environment[0]}"
    if not score.earned and score.notes:
        return score.notes[0].partition("\n")[0]
    if not score.earned:
        return "earned no points"
    lost: dict[str, Fraction] = {}
    for entry in score.entries:
        if not entry.status.is_open and entry.earned < entry.points:
            lost[key_of(entry)] = lost.get(key_of(entry), Fraction(0)) + entry.points - entry.earned
    most = sorted(lost, key=lambda key: (-lost[key], key))[:_MOST_QUESTIONS]
    return f"lost most points in {', '.join(most)}"
