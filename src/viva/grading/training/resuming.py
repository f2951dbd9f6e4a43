"""Continues a training where an earlier run of the same submission ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, final

import numpy as np

from viva.grading.events import current_events
from viva.grading.training.checkpoints import Checkpoint, SavedTraining

KEEP_EVERY_S: Final = 2.0
"""Wall seconds of work that may be lost; shorter epochs are not saved one by one."""


@final
@dataclass(slots=True)
class Resumption:
    """Saves a training and continues it; see `training.epochs`."""

    save: Callable[[], Any]
    load: Callable[[Any], Any]
    rng: np.random.Generator | None = None
    seed: Any = None
    _place: Checkpoint | None = None
    _kept_at: float = field(default_factory=lambda: monotonic())
    _failed: bool = False

    def begin(self, name: str, n: int) -> SavedTraining | None:
        """Restore what an earlier run has saved, if anything; the state is then as it was after that epoch.

        Raises:
            StudentRaised: the box cannot be restored to its earlier state.
            BoxError: the box ended.
        """
        checkpoints = current_events().checkpoints
        self._place = checkpoints.of(name, self.seed) if checkpoints is not None else None
        held = self._place.read() if self._place is not None else None
        if self._place is None or held is None or not 0 < held.epochs <= n:
            return None
        try:
            before = self.save()
        except Exception as error:
            self._place.note(f"its checkpoint was not used: {_error_text(error)}; the training began again.")
            return None
        return held if self._put_back(self._place, held, before) else None

    def _put_back(self, place: Checkpoint, held: SavedTraining, before: object) -> bool:
        try:
            if self.load(held.state) is False:
                place.note("its checkpoint does not fit what it is to be put into; the training began again.")
                return False
            if self.rng is not None and held.rng is not None:
                self.rng.bit_generator.state = held.rng
        except Exception as error:  # the box, or what is left of it, may fail on its own state in any way
            place.note(f"its checkpoint could not be put back ({_error_text(error)}); the training began again.")
            place.drop()
            self.load(before)
            return False
        return True

    def keep(self, reached: int, measured: Mapping[str, list[float]], *, stopped: bool) -> None:
        """Save the state after an epoch if enough time has passed; report to staff what cannot be saved."""
        due = stopped or monotonic() - self._kept_at >= KEEP_EVERY_S
        if self._place is None or self._failed or not due:
            return
        self._kept_at = monotonic()
        try:
            state = self.save()
            rng = self.rng.bit_generator.state if self.rng is not None else None
            self._place.write(SavedTraining(reached, measured, rng, state))
        except Exception as error:  # no one loses a point because a training cannot be saved
            self._place.note(f"a later run cannot go on after epoch {reached}: {_error_text(error)}.")
            self._failed = True

    def done(self) -> None:
        """Mark all epochs complete."""
        if self._place is not None:
            self._place.done()


def _error_text(error: Exception) -> str:
    return str(error) or type(error).__name__
