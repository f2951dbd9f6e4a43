"""Limits that no kernel mechanism of the tier enforces, polled ten times a second: memory, processes, files.

Memory is the sum of the proportional set sizes of the box's processes, so that pages shared with the fork server or
between data loaders count once. Reading it is expensive. So it is read only when a cheap upper bound exceeds the limit,
and not again before the box could have filled the rest.
"""

import threading
import time
from typing import Final, Protocol

from viva.model import Limits
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.limits import processes
from viva.sandbox.host.reactor import Reactor

_MIB: Final = 1 << 20
_MOST_FILES: Final = 4096
_FILES_EVERY: Final = 5
"""Walking the files costs more than reading about processes, so it happens every fifth tick."""
_FASTEST: Final = 2 << 30
"""The most bytes that a box can fill in a second: a core writes fresh pages more slowly than this."""
_OWN_PROCESSES: Final = 1
"""The first process of a box belongs to viva."""


class Guarded(Protocol):
    """The part of a box that the watchdog needs."""

    polled_peak_mib: float
    """The most memory that the watchdog has seen."""

    @property
    def resources(self) -> BoxResources:
        """Return what belongs to the box outside of it."""

    @property
    def alive(self) -> bool:
        """Return whether the box can be asked; may still be True for a moment after it has died."""

    def look_at_output(self) -> None:
        """Read what was printed where no selector can wait for it."""

    def end_for(self, limit: str) -> None:
        """End the box because it passed a limit."""


class Watchdog:
    """Polls the limits of the boxes of one fork server that need it."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._lock = threading.Lock()
        self._guarded: dict[int, tuple[Guarded, Limits]] = {}
        self._next: dict[int, float] = {}
        """When to sample the memory of each box again."""
        self._ticking = False
        self._count = 0

    def guard(self, box: Guarded, limits: Limits) -> None:
        """Watch a box until it is dismissed; a box whose cgroup and mounts enforce every limit is not watched."""
        if box.resources.cgroup and not box.resources.folder:
            return
        with self._lock:
            self._guarded[box.resources.number] = (box, limits)
            start, self._ticking = not self._ticking, True
        if start:
            self._reactor.every_tick(self._tick)

    def dismiss(self, box: Guarded) -> None:
        """Stop watching; when this returns, nothing of the box is being read."""
        with self._lock:
            self._guarded.pop(box.resources.number, None)
            self._next.pop(box.resources.number, None)

    def _tick(self) -> None:
        self._count += 1
        for number in list(self._guarded):
            with self._lock:
                pair = self._guarded.get(number)
                if pair and pair[0].alive:
                    self._check(*pair)

    def _check(self, box: Guarded, limits: Limits) -> None:
        resources = box.resources
        box.look_at_output()
        first = resources.first
        family = processes.family(first) if first else []
        if not resources.cgroup and time.monotonic() >= self._next.get(resources.number, 0.0):
            self._sample_memory(box, family, limits.memory_mib * _MIB)
        if processes.tasks(family) > limits.processes + _OWN_PROCESSES:
            box.end_for("too many processes")
        if resources.folder and self._count % _FILES_EVERY == 0:
            used, files = processes.files_below(resources.folder, _MOST_FILES)
            if used > 2 * limits.disk_mib * _MIB:
                box.end_for("disk limit")
            if files >= _MOST_FILES:
                box.end_for("too many files")

    def _sample_memory(self, box: Guarded, family: list[int], limit: int) -> None:
        resources = box.resources
        used = processes.held_bytes(family)
        if used > limit:
            used = processes.proportional_bytes(family, resources.uid.uid if resources.uid else None)
            self._next[resources.number] = time.monotonic() + max(0, limit - used) / _FASTEST
        box.polled_peak_mib = max(box.polled_peak_mib, used / _MIB)
        if used > limit:
            box.end_for("memory limit")
