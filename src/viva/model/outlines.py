"""Small forms of scores, for what keeps one of every submission of a large class."""

from collections.abc import Callable
from dataclasses import replace
from typing import final

from viva.model.score import Entry, Score


@final
class Outlines:
    """Reduces scores to their points and statuses; what is equal in several of them is kept once."""

    def __init__(self, keeps_messages: Callable[[Entry], bool] = lambda _: False) -> None:
        """Prepare.

        Args:
            keeps_messages: selects the entries whose messages stay.
        """
        self._keeps_messages = keeps_messages
        self._entries: dict[Entry, Entry] = {}
        self._all: dict[tuple[Entry, ...], tuple[Entry, ...]] = {}

    def reduce(self, score: Score) -> Score:
        """Return the score without messages, times of tests and written answers.

        Its notes stay if nothing was earned: they say why.
        """
        entries = tuple(self._entries.setdefault(outline, outline) for outline in map(self._outline, score.entries))
        notes = () if score.earned else score.notes
        return replace(score, entries=self._all.setdefault(entries, entries), notes=notes)

    def _outline(self, entry: Entry) -> Entry:
        cases = entry.cases if self._keeps_messages(entry) else ()
        return replace(entry, cases=tuple(replace(case, wall_s=0.0) for case in cases), written="")
