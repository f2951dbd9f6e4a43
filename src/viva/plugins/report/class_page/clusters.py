"""Common wrong answers: known mistakes and messages, with the number of students that each occurred for.

Messages that differ only in numbers are one cluster. Messages may contain texts of students' programs; these are
escaped when they are shown.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from viva.formats import escaping
from viva.model import Case, Entry
from viva.model.attempt import ScoredAttempt
from viva.model.hand_grading import feedback_of
from viva.model.score import in_order

MOST_CLUSTERS: Final = 8
"""The maximum number of clusters of a test."""
UNKNOWN: Final = "hidden test; the records that were read do not hold what went wrong"
_READ: Final = 4000
"""The number of characters of a message that are read."""
_KEY: Final = 300
_MISTAKE: Final = re.compile(r"It equals a known mistake: ([^\n]{1,300})")
_NUMBER: Final = re.compile(r"(?<![\w.*^/])[-+−]?\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w*^/(]|\.\d)")
"""A number by itself: the digits of 4*d**2, 2(d+1) and 11/12 are part of what the student wrote."""
_NUMBERS: Final = re.compile(r"#(?:, #)+")


@dataclass(frozen=True, slots=True)
class Cluster:
    """One wrong answer."""

    text: str
    is_known_mistake: bool
    count: int
    """The number of students or teams."""
    example: str
    """The name of a submission with it."""


@dataclass(frozen=True, slots=True)
class WrongAnswers:
    """The wrong answers to one test."""

    test_id: str
    number: str
    name: str
    students: int
    """The number of students or teams who did not get full points."""
    clusters: tuple[Cluster, ...]
    """Those of two or more students, and every known mistake; most frequent first."""
    others: int
    """The number of wrong answers that are in none of these clusters."""


@dataclass(slots=True)
class _Test:
    entry: Entry
    students: int = 0
    counts: "Counter[tuple[str, bool]]" = field(default_factory=Counter)
    examples: dict[tuple[str, bool], str] = field(default_factory=dict)


def wrong_answers(marked: Sequence[ScoredAttempt]) -> list[WrongAnswers]:
    """Return the wrong answers to each test that some students failed, in question order; prose is left out.

    Args:
        marked: one submission for each student or team; a student counts once in a cluster, whatever the number of
            cases.
    """
    tests: dict[str, _Test] = {}
    for graded in marked:
        for entry in graded.score.entries:
            if not entry.status.is_wrong or entry.rubric:  # a marker's comment is not the answer of a program
                continue
            test = tests.setdefault(entry.test_id, _Test(entry))
            test.students += 1
            for key in set(_keys(entry)):
                test.counts[key] += 1
                test.examples.setdefault(key, graded.attempt.name)
    found = [_wrong_answers(test_id, test) for test_id, test in tests.items()]
    return sorted(found, key=lambda wrong: in_order(wrong.number))


def normalised(message: str) -> tuple[str, bool]:
    """Return a message with its numbers replaced by #, and whether it names a known mistake."""
    text = escaping.terminal(message, characters=_READ)
    if found := _MISTAKE.search(text):
        return escaping.line(found[1].rstrip(), characters=_KEY).rstrip("."), True
    first = escaping.line(text.strip().partition("\n")[0], characters=_KEY)
    return _NUMBERS.sub("#, …", _NUMBER.sub("#", first)), False


def staff_text(entry: Entry, case: Case) -> str:
    """Return the message of a case for staff: the comparison itself if the student reads a fixed sentence."""
    if case.staff_message and (entry.visibility != "visible" or entry.hide_errors is not None):
        return case.staff_message
    if entry.visibility != "visible":
        return UNKNOWN
    return "\n".join([case.message, *feedback_of(case.staff_message)])


def _keys(entry: Entry) -> Iterator[tuple[str, bool]]:
    for case in entry.cases:
        if case.status.is_wrong and (text := staff_text(entry, case)):
            yield (text, False) if text == UNKNOWN else normalised(text)


def _wrong_answers(test_id: str, test: _Test) -> WrongAnswers:
    ranked = sorted(test.counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [(key, n) for key, n in ranked if n > 1 or key[1]][:MOST_CLUSTERS]
    clusters = tuple(Cluster(text, known, n, test.examples[(text, known)]) for (text, known), n in shown)
    entry = test.entry
    others = sum(test.counts.values()) - sum(n for _, n in shown)
    return WrongAnswers(test_id, entry.number, entry.name, test.students, clusters, others)
