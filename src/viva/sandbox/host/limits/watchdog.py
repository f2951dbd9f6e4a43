"""Limits that no kernel mechanism of the tier enforces, polled: memory and processes ten times a second, files twice.

Memory is the sum of the proportional set sizes of the box's processes, so that pages shared with the fork server or
between data loaders count once, and of what no process shows: files in memory and full sockets. Reading the first is
expensive. So it is read only when a cheap upper bound exceeds the limit, and not again before the box could have
filled the rest.
"""

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viva.sandbox.host.limits import file_use, processes
from viva.sandbox.host.reactor import Reactor
from viva.sandbox.limits import Limits

if TYPE_CHECKING:
    from viva.sandbox.host.box import Box

_MIB: Final = 1 << 20
_MOST_FILES: Final = 4096
_FILES_EVERY: Final = 5
"""Walking the files costs more than reading about processes, so it happens every fifth tick."""
_FASTEST: Final = 2 << 30
"""The most bytes that a box can fill in a second: a core writes fresh pages more slowly than this."""
_OWN_PROCESSES: Final = 1
"""The first process of a box belongs to viva, which closed everything in it and lets no one inspect it."""
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108  # only counted
_TEMPORARY: Final = (f"{_SHARED_MEMORY}/", "/tmp/", "/var/tmp/")  # noqa: S108  # only counted
_MOST_LOOKS: Final = 3
"""How often in a row a process may be hidden: one that is just starting or ending can be, for a moment."""


@dataclass(slots=True)
class _Watched:
    """A box and what was seen of it."""

    box: "Box"
    limits: Limits
    sample_at: float = 0.0
    """When to sample its memory again."""
    unmapped: int = 0
    """Bytes of files in memory, of which processes may map a part."""
    sockets: int = 0
    hidden_looks: int = 0


class Watchdog:
    """Polls the limits of the boxes of one fork server that need it."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._lock = threading.Lock()
        self._watched: dict[int, _Watched] = {}
        self._ticking = False
        self._count = 0

    def guard(self, box: "Box", limits: Limits) -> None:
        """Watch a box until it is dismissed; a box whose cgroup and mounts enforce every limit is not watched."""
        if box.resources.cgroup and not box.resources.folder:
            return
        with self._lock:
            self._watched[box.resources.number] = _Watched(box, limits)
            start, self._ticking = not self._ticking, True
        if start:
            self._reactor.every_tick(self._tick)

    def dismiss(self, box: "Box") -> None:
        """Stop watching; when this returns, nothing of the box is being read."""
        with self._lock:
            self._watched.pop(box.resources.number, None)

    def _tick(self) -> None:
        self._count += 1
        for number in list(self._watched):
            with self._lock:
                watched = self._watched.get(number)
                if watched and watched.box.alive:
                    self._check(watched)

    def _check(self, watched: _Watched) -> None:
        box, resources = watched.box, watched.box.resources
        box.look_at_output()
        first = resources.first
        family = processes.family(first) if first else []
        if self._count % _FILES_EVERY == 0:
            _look_at_files(watched, family)
        if not resources.cgroup and time.monotonic() >= watched.sample_at:
            _sample_memory(watched, family)
        if processes.tasks(family) > watched.limits.processes + _OWN_PROCESSES:
            box.end_for("too many processes")


def _look_at_files(watched: _Watched, family: list[int]) -> None:
    box, resources = watched.box, watched.box.resources
    folder, is_t0 = resources.folder, resources.folder is not None and resources.user is None
    places = () if folder is None else (f"{folder}/",) if is_t0 else (f"{folder}/", *_TEMPORARY)
    students = family[_OWN_PROCESSES:]
    # Where a cgroup counts memory, the processes do not let themselves be looked into.
    found = file_use.OpenFiles() if resources.cgroup else file_use.open_files(students, resources.user, places)
    watched.hidden_looks = watched.hidden_looks + 1 if found.hidden else 0
    if watched.hidden_looks >= _MOST_LOOKS and not is_t0:  # there it may be a set-uid program
        box.end_for("a process that cannot be looked into")
    in_memory = (
        file_use.mounted_bytes(students) if folder is None else _look_at_folder(watched, folder, found.unnamed_bytes)
    )
    watched.unmapped, watched.sockets = in_memory + found.memory_bytes, found.socket_bytes


def _look_at_folder(watched: _Watched, folder: str, unnamed: int) -> int:
    """End a box without mounts that keeps too much; return how much of it is in memory."""
    box, user, limit = watched.box, watched.box.resources.user, watched.limits.disk_mib * _MIB
    used, files = file_use.files_below(folder, _MOST_FILES)
    used += unnamed + (file_use.owned_bytes(user, _SHARED_MEMORY) if user is not None else 0)
    if used > (2 if user is None else 3) * limit:
        box.end_for("disk limit")
    if files >= _MOST_FILES:
        box.end_for("too many files")
    return used if folder.startswith(_SHARED_MEMORY) else 0


def _sample_memory(watched: _Watched, family: list[int]) -> None:
    box, limit = watched.box, watched.limits.memory_mib * _MIB
    used = processes.held_bytes(family) + watched.unmapped + watched.sockets
    if used > limit:
        memory = processes.proportional_memory(family, box.resources.user)
        # A file in memory that is mapped is part of both; the larger one never counts a page twice.
        used = memory.private + max(memory.shared, watched.unmapped) + watched.sockets
        watched.sample_at = time.monotonic() + max(0, limit - used) / _FASTEST
    box.polled_peak_mib = max(box.polled_peak_mib, used / _MIB)
    if used > limit:
        box.end_for("memory limit")
