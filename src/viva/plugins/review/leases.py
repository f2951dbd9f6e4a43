"""Assign answers to markers: several at once get different ones, and a second grade comes from a second person."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.review.decision_log import DecisionLog, place_of
from viva.plugins.review.written_answers import Answer, Key

LEASE_S: Final = 120.0
"""How long an opened answer is not assigned to other markers who ask for the next one."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A person who grades answers, and the round in which they do."""

    name: str
    round: int = FIRST


class Leases:
    """Chooses the next answer for each marker, and remembers which ones are open."""

    def __init__(self, decisions: DecisionLog) -> None:
        self._decisions = decisions
        self._opened: dict[tuple[Key, int], tuple[str, float]] = {}

    def open(self, marker: Marker, answer: Answer) -> None:
        """Record that a marker has opened an answer."""
        self._opened[answer.key, marker.round] = (marker.name, time.monotonic())

    def may_mark(self, marker: Marker, answer: Answer) -> bool:
        """Return whether a marker may grade an answer: the second marker must not be the first one again."""
        first = self._decisions.at(place_of(answer.key, FIRST)) if marker.round == SECOND else None
        return first is None or first.by != marker.name

    def check_may_mark(self, marker: Marker, answers: Iterable[Answer]) -> None:
        """Check that a marker may grade all of the answers.

        Raises:
            UsageError: the marker may not grade one of them, see `may_mark`.
        """
        if not all(self.may_mark(marker, answer) for answer in answers):
            raise UsageError("You gave the first grade here, so someone else has to give the second one.")

    def next_for(self, marker: Marker, answers: Sequence[Answer], after: int | None) -> Answer | None:
        """Return the next answer to a question that is not graded; None if none is left for this marker.

        An answer that another marker has just opened is returned only if no other is left. A second marker gets no
        answer that they graded in the first round. If others grade the same question, a new marker begins in the
        middle of what is left, so that two markers rarely reach the same answers.

        Args:
            marker: the marker who asks.
            answers: all answers to the question, in their order.
            after: the index of the answer that the marker comes from; None for the beginning.
        """
        if after is None or self._graded_by_other(marker, answers[after]):
            start = self._start(marker, answers)
        else:
            start = after + 1
        leased = []
        for answer in (*answers[start:], *answers[:start]):
            if after is not None and answer is answers[after]:
                continue
            if not self._is_free(marker, answer):
                continue
            if not self._is_leased(marker, answer):
                return answer
            leased.append(answer)
        return leased[0] if leased else None

    def _start(self, marker: Marker, answers: Sequence[Answer]) -> int:
        """Return the index to begin at: 0, or the middle of the longest run of answers that are not graded."""
        done = self._decisions.done(answers[0].question, marker.round) if answers else ()
        if not any(self._graded_by_other(marker, answer) for answer in answers if answer.content_hash in done):
            return 0
        longest = (0, 0)
        begin = 0
        for place, answer in enumerate(answers):
            if answer.content_hash in done:
                begin = place + 1
            longest = max(longest, (place + 1 - begin, -begin))
        length, first = longest
        return -first + length // 2

    def _graded_by_other(self, marker: Marker, answer: Answer) -> bool:
        there = self._decisions.at(place_of(answer.key, marker.round))
        return there is not None and there.judgement.done and there.by != marker.name

    def _is_free(self, marker: Marker, answer: Answer) -> bool:
        done = self._decisions.done(answer.question, marker.round)
        return answer.content_hash not in done and self.may_mark(marker, answer)

    def _is_leased(self, marker: Marker, answer: Answer) -> bool:
        by, since = self._opened.get((answer.key, marker.round), (marker.name, 0.0))
        return by != marker.name and time.monotonic() - since < LEASE_S
