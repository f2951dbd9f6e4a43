"""Submissions reduced to what the report about a class reads, so that a class of any usual size fits into memory."""

from array import array
from dataclasses import dataclass
from typing import final

from viva.model import Entry
from viva.model.attempt import ScoredAttempt
from viva.model.outlines import Outlines


@final
@dataclass(frozen=True, slots=True)
class LeanAttempt(ScoredAttempt):
    """A submission whose score holds only the messages of what went wrong."""

    test_s: "array[float]"
    """The time of each of its entries, in seconds."""


@final
class LeanAttempts:
    """Reduces the submissions of one class."""

    def __init__(self) -> None:
        self._outlines = Outlines(lambda entry: entry.status.is_wrong or entry.status.is_fault)

    def reduce(self, one: ScoredAttempt) -> LeanAttempt:
        """Return a submission reduced to what the page and the table of the class read; no feedback page can."""
        return LeanAttempt(one.attempt, self._outlines.reduce(one.score), array("d", seconds_of_tests(one)))


def seconds_of_tests(one: ScoredAttempt) -> "array[float] | list[float]":
    """Return the time that each entry of a submission took."""
    return one.test_s if isinstance(one, LeanAttempt) else [_seconds(entry) for entry in one.score.entries]


def _seconds(entry: Entry) -> float:
    return sum(case.wall_s for case in entry.cases)
