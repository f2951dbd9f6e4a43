"""How much of its time a submission has used, as limits count it (sandbox/guest/process/counted_time.py)."""

import time
from collections.abc import Callable

from viva.examiner.boxes.load import LOAD_GRACE_S, NOTEBOOK_LOADS
from viva.model import Limits
from viva.model.box_source import AnyBox


class SubmissionTime:
    """The counted time of all boxes of one submission, and of its loads.

    Reading its files counts as well; what else the examiner does meanwhile, and waiting for a box, does not.
    """

    def __init__(self, limits: Limits, read_s: Callable[[], float]) -> None:
        """Begin at zero; `read_s` returns how long reading the submission's files has taken so far."""
        self._limits, self._read_s = limits, read_s
        self._box: AnyBox | None = None
        self._ended_s = 0.0
        """Counted seconds of the boxes that have ended."""
        self._load_began_s = 0.0
        """Counted seconds when the latest load began."""
        self._load_began_at = 0.0
        self.failed_loads_s = 0.0
        """Seconds of loads that ended their box, as the wall clock tells, which outlives a box: the next has less."""

    @property
    def counted_s(self) -> float:
        """Return the counted seconds so far."""
        return self._read_s() + self._ended_s + (self._box.counted_s if self._box is not None else 0.0)

    @property
    def remaining_s(self) -> float:
        """Return how much of its time the submission has left; not above zero once it is used up."""
        return self._limits.submission_s - self.counted_s

    def load_left_s(self) -> float:
        """Return how much time loading has left; all files of one load and the loads that failed before it share it."""
        whole_s = self._limits.load_s * NOTEBOOK_LOADS - self.failed_loads_s
        return min(whole_s - (self.counted_s - self._load_began_s), self.remaining_s)

    def begin_load(self, box: AnyBox) -> None:
        """Count a box from now on, which is loaded first."""
        self._box = box
        self._load_began_s, self._load_began_at = self.counted_s, time.monotonic()

    def fail_load(self) -> None:
        """Note that the load has failed; its box has ended."""
        self.failed_loads_s += time.monotonic() - self._load_began_at
        self._load_began_s = self.counted_s

    def was_slow_load(self) -> bool:
        """Return whether two loads like the latest would take longer than loading may."""
        return self.counted_s - self._load_began_s > self._limits.load_s + LOAD_GRACE_S

    def end_box(self) -> None:
        """Keep the time of the current box, which is closed next."""
        if self._box is not None:
            self._ended_s += self._box.counted_s
            self._box = None

    def excuse(self, since_s: float) -> None:
        """Take back what was counted after the submission had used `since_s` counted seconds."""
        self._ended_s -= self.counted_s - since_s
