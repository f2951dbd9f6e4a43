"""Limits that no kernel mechanism of the tier enforces, polled ten times a second: memory, processes, files.

Memory is the sum of the proportional set sizes of the box's processes, so that pages shared with the fork server or
between data loaders count once. Reading it is dear, so it is read only when a cheap upper bound is above the limit,
and not again before the box could have filled what was left.
"""

import threading
import time
from typing import TYPE_CHECKING, Final

from viva.model import Limits
from viva.sandbox.host.limits import processes
from viva.sandbox.host.reactor import Reactor

if TYPE_CHECKING:
    from viva.sandbox.host.box import Box

_MIB: Final = 1 << 20
_MOST_FILES: Final = 4096
_FILES_EVERY: Final = 5
"""Walking the files is dearer than looking at processes: every fifth tick."""
_FASTEST: Final = 2 << 30
"""Bytes that a box is assumed to fill in a second at most: writing fresh pages costs a core more than this."""
_OWN_PROCESSES: Final = 1
"""The first process of a box is ours."""


class Watchdog:
    """One for each fork server; guards the boxes that need it."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._lock = threading.Lock()
        self._guarded: dict[int, tuple[Box, Limits]] = {}
        self._next: dict[int, float] = {}
        """When each box is to be weighed again."""
        self._ticking = False
        self._count = 0

    def guard(self, box: "Box", limits: Limits) -> None:
        """Watch a box until it is dismissed; one whose cgroup and mounts do all of it is left alone."""
        if box.handle.cgroup and not box.handle.room:
            return
        with self._lock:
            self._guarded[box.handle.number] = (box, limits)
            start, self._ticking = not self._ticking, True
        if start:
            self._reactor.every_tick(self._tick)

    def dismiss(self, box: "Box") -> None:
        """Stop watching; no reading of the box is under way when this returns."""
        with self._lock:
            self._guarded.pop(box.handle.number, None)
            self._next.pop(box.handle.number, None)

    def _tick(self) -> None:
        self._count += 1
        for number in list(self._guarded):
            with self._lock:
                pair = self._guarded.get(number)
                if pair and pair[0].alive:
                    self._look(*pair)

    def _look(self, box: "Box", limits: Limits) -> None:
        handle = box.handle
        box.look_at_output()
        first = handle.first
        family = processes.family(first) if first else []
        if not handle.cgroup and time.monotonic() >= self._next.get(handle.number, 0.0):
            self._weigh(box, family, limits.memory_mib * _MIB)
        if processes.tasks(family) > limits.processes + _OWN_PROCESSES:
            box.end_for("too many processes")
        if handle.room and self._count % _FILES_EVERY == 0:
            used, files = processes.files_below(handle.room, _MOST_FILES)
            if used > 2 * limits.disk_mib * _MIB:
                box.end_for("disk limit")
            if files >= _MOST_FILES:
                box.end_for("too many files")

    def _weigh(self, box: "Box", family: list[int], limit: int) -> None:
        handle = box.handle
        used = processes.held_bytes(family)
        if used > limit:
            used = processes.proportional_bytes(family, handle.uid.uid if handle.uid else None)
            self._next[handle.number] = time.monotonic() + max(0, limit - used) / _FASTEST
        box.polled_peak_mib = max(box.polled_peak_mib, used / _MIB)
        if used > limit:
            box.end_for("memory limit")
