"""Events of a running test besides its outcome: progress for those who wait, curves and notes for the result.

The functions of `viva.plugins.training` find the events of the test that is running here. A hidden test leaves no
curve and no note, and its progress names no number that came out of the box.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import final

from viva.model.score import Curve

MOST_CURVES = 50
"""Curves that are kept for one submission; later ones are left out."""


@final
class Events:
    """Collects the events of the tests of one submission."""

    def __init__(
        self,
        on_progress: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._on_progress = on_progress
        self.clock = clock
        """The counted time of the submission's boxes; outside grading, the wall clock."""
        self._curves: dict[tuple[str, str], Curve] = {}
        self._notes: dict[str, None] = {}
        self._test_id = ""
        self.hidden = False
        self.whole_trainings = False
        """Whether trainings run all epochs, even if they meet their thresholds earlier."""

    def begin_test(self, test_id: str, *, hidden: bool) -> None:
        """Attribute the following events to this test."""
        self._test_id, self.hidden = test_id, hidden

    def progress(self, text: str) -> None:
        """Report progress to those who wait."""
        self._on_progress(text)

    def draw(self, name: str, values: tuple[float, ...], thresholds: tuple[tuple[int, float], ...] = ()) -> None:
        """Keep a curve; one of the same name and test replaces it, so that a curve can grow."""
        place = (self._test_id, name)
        if not self.hidden and (place in self._curves or len(self._curves) < MOST_CURVES):
            self._curves[place] = Curve(self._test_id, name, values, thresholds)

    def note(self, text: str) -> None:
        """Keep a sentence to show once above the results."""
        if not self.hidden:
            self._notes[text] = None

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Return the curves, in the order in which they were begun."""
        return tuple(self._curves.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes."""
        return tuple(self._notes)


_EVENTS: ContextVar[Events | None] = ContextVar("events", default=None)


def current_events() -> Events:
    """Return the events of the submission that is being graded; outside grading (plain pytest), dropped ones."""
    return _EVENTS.get() or Events()


@contextmanager
def collecting(events: Events) -> Iterator[None]:
    """Collect the events of whatever runs inside the block."""
    token = _EVENTS.set(events)
    try:
        yield
    finally:
        _EVENTS.reset(token)
