"""Whose turn an answer is: markers side by side get different ones, and a second mark comes from a second person."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, SECOND
from viva.review.decision_log import Journal, place_of
from viva.review.written_answers import Answer, Key

HELD_S: Final = 120.0
"""How long an answer that somebody has opened is not given to others who ask for the next one."""


@dataclass(frozen=True, slots=True)
class Marker:
    """Who sits at the desk."""

    name: str
    round: int = FIRST


class Turns:
    """Which answer comes next for whom."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._opened: dict[tuple[Key, int], tuple[str, float]] = {}

    def open(self, marker: Marker, answer: Answer) -> None:
        """Somebody looks at an answer to mark it."""
        self._opened[answer.key, marker.round] = (marker.name, time.monotonic())

    def may_mark(self, marker: Marker, answer: Answer) -> bool:
        """Whether an answer is one for a marker: a second one would agree with herself where she was the first."""
        first = self._journal.at(place_of(answer.key, FIRST)) if marker.round == SECOND else None
        return first is None or first.by != marker.name

    def check_may_mark(self, marker: Marker, answers: Iterable[Answer]) -> None:
        """See that answers are all for a marker.

        Raises:
            UsageError: one is not, see `may_mark`.
        """
        if not all(self.may_mark(marker, answer) for answer in answers):
            raise UsageError("The first mark here is your own, so the second one has to be somebody else's.")

    def next_for(self, marker: Marker, answers: Sequence[Answer], after: int | None) -> Answer | None:
        """The next answer to a question that is not marked; None if none is left for this marker.

        One that somebody else has just opened comes when no other is left; a second marker gets none that she marked
        at first. Where others mark the same question, somebody new begins in the middle of what is left, so that nobody
        runs into the other all the time.

        Args:
            answers: all to the question, in their order.
            after: where the marker comes from; None for the beginning.
        """
        if after is None or self._is_of_others(marker, answers[after]):
            start = self._begin(marker, answers)
        else:
            start = after + 1
        held = []
        for answer in (*answers[start:], *answers[:start]):
            if after is not None and answer is answers[after]:
                continue
            if not self._open_for(marker, answer):
                continue
            if not self._held(marker, answer):
                return answer
            held.append(answer)
        return held[0] if held else None

    def _begin(self, marker: Marker, answers: Sequence[Answer]) -> int:
        """The first answer, or the middle of the longest run of those that are not marked."""
        done = self._journal.done(answers[0].question, marker.round) if answers else ()
        if not any(self._is_of_others(marker, answer) for answer in answers if answer.content_hash in done):
            return 0
        longest = (0, 0)
        begin = 0
        for place, answer in enumerate(answers):
            if answer.content_hash in done:
                begin = place + 1
            longest = max(longest, (place + 1 - begin, -begin))
        length, first = longest
        return -first + length // 2

    def _is_of_others(self, marker: Marker, answer: Answer) -> bool:
        there = self._journal.at(place_of(answer.key, marker.round))
        return there is not None and there.judgement.done and there.by != marker.name

    def _open_for(self, marker: Marker, answer: Answer) -> bool:
        done = self._journal.done(answer.question, marker.round)
        return answer.content_hash not in done and self.may_mark(marker, answer)

    def _held(self, marker: Marker, answer: Answer) -> bool:
        by, since = self._opened.get((answer.key, marker.round), (marker.name, 0.0))
        return by != marker.name and time.monotonic() - since < HELD_S
