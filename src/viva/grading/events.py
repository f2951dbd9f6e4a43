"""What a test tells while it runs, beside its outcome: progress for whoever waits, curves and notes for the result.

And where its trainings are kept, so that a later run can go on with them.

The functions of `viva.grading.training` find the listener of the test that is running here. A hidden test leaves no
curve and no note, and its progress names no number that came out of the box.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import final

from viva.grading.training.checkpoints import Checkpoints
from viva.model.score import Curve

MOST_CURVES = 50
"""Curves that are kept for one submission; later ones are left out."""


@final
class Listener:
    """Keeps what the tests of one submission tell."""

    def __init__(
        self, on_progress: Callable[[str], None] = lambda _: None, checkpoints: Checkpoints | None = None
    ) -> None:
        self._on_progress = on_progress
        self._curves: dict[tuple[str, str], Curve] = {}
        self._notes: dict[str, None] = {}
        self._test_id = ""
        self.hidden = False
        self.checkpoints = checkpoints
        """Where trainings are kept; None where nothing is."""

    def begin_test(self, test_id: str, *, hidden: bool) -> None:
        """From now on this test is speaking."""
        self._test_id, self.hidden = test_id, hidden

    def progress(self, text: str) -> None:
        """Tell whoever waits how far it is."""
        self._on_progress(text)

    def draw(self, name: str, values: tuple[float, ...], thresholds: tuple[tuple[int, float], ...] = ()) -> None:
        """Keep a curve; one of the same name and test takes its place, so that a curve can grow."""
        place = (self._test_id, name)
        if not self.hidden and (place in self._curves or len(self._curves) < MOST_CURVES):
            self._curves[place] = Curve(self._test_id, name, values, thresholds)

    def note(self, text: str) -> None:
        """A sentence above the results, said once."""
        if not self.hidden:
            self._notes[text] = None

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What was drawn, in the order in which it was begun."""
        return tuple(self._curves.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted."""
        return tuple(self._notes)


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def listener() -> Listener:
    """The listener of the submission that is being graded; where nobody listens (plain pytest), one that forgets."""
    return _LISTENER.get() or Listener()


@contextmanager
def listening(to: Listener) -> Iterator[None]:
    """Make this the listener of whatever runs inside."""
    token = _LISTENER.set(to)
    try:
        yield
    finally:
        _LISTENER.reset(token)
