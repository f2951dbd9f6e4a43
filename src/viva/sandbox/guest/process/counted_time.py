"""Time as limits count it: whether a machine is idle or overloaded, the same program uses the same amount.

Seconds in which a process computes count in full, however many threads compute at once. Seconds asleep count a quarter,
so that what only waits is ended too. Seconds in which it would compute but waits for a processor, because others use
them or a quota is used up, hardly count. So this clock never runs faster than the wall clock. Both sides use it: the
box for its soft limits, the examiner for the hard ones.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Callable, NamedTuple, Optional, Union

ASLEEP = 0.25
"""What a second asleep counts."""
WAITED = 0.004
"""What a second counts in which a thread was ready to run, but no processor was free. It is above zero, so that every
program ends."""
_LOOK_S = 0.05
"""A process that was idle for less since the last reading was not idle long enough to ask why: asking costs 20 µs."""
_FIRST_LOOK_S = 0.25
_AWAKE = 0.25
"""A process that computed, or waited for a processor, for less than this share of a time slept. On a busy machine, one
that only sleeps waits each time it wakes up."""
_SHORTEST_S = 0.02
"""The shortest wait between two looks."""
_monotonic, _process_time = time.monotonic, time.process_time
_listdir, _open, _read, _close = os.listdir, os.open, os.read, os.close
_READ_ONLY = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


class _Reading(NamedTuple):
    """All clocks at one moment. It is replaced as a whole, so that threads and signal handlers may read the clock."""

    wall_s: float
    computed_s: float
    waited_s: Optional[float]
    counted_s: float


class CountedTime:
    """A clock of counted seconds; it begins at zero."""

    def __init__(
        self,
        computed_s: Callable[[], float],
        waited_s: Callable[[], Optional[float]],
        *,
        wall_s: Callable[[], float] = _monotonic,
        unknown: float = ASLEEP,
    ) -> None:
        """Begin to count.

        Args:
            computed_s: processor seconds so far; a step back, because a process has ended, counts as none.
            waited_s: seconds that threads waited for a processor so far; None where the system does not tell.
            wall_s: the seconds that can count at most.
            unknown: what an idle second counts where `waited_s` is None.
        """
        self._computed_s, self._waited_s, self._wall_s, self._unknown = computed_s, waited_s, wall_s, unknown
        self._last = _Reading(wall_s(), computed_s(), waited_s(), 0.0)

    def now(self, *, exact: bool = False) -> float:
        """Return the counted seconds so far; unless `exact`, those of the last 50 ms of idle time may be missing."""
        last = self._last
        wall_s, computed_s = self._wall_s(), self._computed_s()
        passed_s = max(wall_s - last.wall_s, 0.0)
        busy_s = min(max(computed_s - last.computed_s, 0.0), passed_s)
        idle_s = passed_s - busy_s
        if idle_s < _LOOK_S and not exact:
            return last.counted_s + busy_s + WAITED * idle_s
        waited_s = self._waited_s()
        if waited_s is None or last.waited_s is None:
            idle = self._unknown * idle_s
        else:
            ready_s = min(max(waited_s - last.waited_s, 0.0), idle_s)
            idle = WAITED * ready_s + ASLEEP * (idle_s - ready_s)
        self._last = _Reading(wall_s, computed_s, waited_s, last.counted_s + busy_s + idle)
        return self._last.counted_s

    def slept_since(self, began: _Reading) -> bool:
        """Return whether the processes slept most of the time since a reading, so that nothing held them up."""
        self.now(exact=True)
        last = self._last
        if last.waited_s is None or began.waited_s is None:
            return False
        busy_s = (last.computed_s - began.computed_s) + (last.waited_s - began.waited_s)
        return busy_s < _AWAKE * (last.wall_s - began.wall_s)

    def reading(self) -> _Reading:
        """Return all clocks now."""
        self.now(exact=True)
        return self._last


class Countdown:
    """A limit in counted seconds, for code that waits for another process.

    The clock is not read in the first quarter of a second, so that short requests cost nothing; that time is free.
    """

    def __init__(self, clock: CountedTime, limit_s: float) -> None:
        self._clock, self._limit_s = clock, limit_s
        self._first_look = _monotonic() + _FIRST_LOOK_S
        self._began: Optional[_Reading] = None

    def slept(self) -> bool:
        """Return whether the other process slept most of the time; False if that time was short."""
        return self._began is not None and self._clock.slept_since(self._began)

    def left_s(self) -> float:
        """Return how many seconds to wait before asking again; 0 or less once the limit has passed."""
        if self._began is None:
            free_s = self._first_look - _monotonic()
            if free_s > 0:
                return free_s
            self._began = self._clock.reading()
        left_s = self._limit_s - (self._clock.now() - self._began.counted_s)
        return left_s if left_s <= 0 else max(left_s, _SHORTEST_S)


def wall_countdown(limit_s: float) -> Callable[[], float]:
    """Return a function that tells how much is left of `limit_s` seconds of wall time from now on."""
    end = _monotonic() + limit_s
    return lambda: end - _monotonic()


def of_this_process() -> CountedTime:
    """Return a clock of the process that calls it; where the box cannot see why it is idle, the examiner decides."""
    unknown = WAITED if sys.platform == "linux" else ASLEEP
    return CountedTime(_process_time, lambda: waited_s("self"), unknown=unknown)


def waited_s(pid: Union[int, str]) -> Optional[float]:
    """Return how long the threads of a process were ready to run but had no processor, in seconds; None if unknown.

    Source: "run_delay" in Documentation/scheduler/sched-stats.rst of Linux; a quota of a cgroup counts there as well.
    """
    total, known = 0, False
    try:
        for thread in _listdir(f"/proc/{pid}/task"):
            file = _open(f"/proc/{pid}/task/{thread}/schedstat", _READ_ONLY)
            try:
                total += int(_read(file, 100).split()[1])
            finally:
                _close(file)
            known = True
    except (OSError, ValueError, IndexError):
        pass  # the process or a thread has ended, or this system does not tell
    return total / 1e9 if known else None
