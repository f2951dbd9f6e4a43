"""The resources of one box on the examiner's side: how to kill it, its user, its cgroup, its files."""

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Final

from viva.sandbox.host.exit_reason import BY_SIGKILL
from viva.sandbox.host.limits import host_memory, processes
from viva.sandbox.host.limits.cgroups import BoxCgroup
from viva.sandbox.host.limits.uids import BorrowedUid

_REAP_S: Final = 2.0


class BoxResources:
    """The resources of one box: reserved before it is made, freed after it has ended."""

    def __init__(self, number: int, uid: BorrowedUid | None = None, cgroup: BoxCgroup | None = None) -> None:
        self.number, self.uid, self.cgroup = number, uid, cgroup
        self.ended = threading.Event()
        """Set once the box is reaped and everything it left behind has been removed."""
        self.pidfd = -1
        """A pidfd of the first process of the box; -1 where the system has none."""
        self.pid = 0
        """The id of the first process where there is no pidfd."""
        self.killer: Callable[[], None] | None = None
        """Kills the box where there is no pidfd."""
        self.folder: str | None = None
        """The directory of its files, if the box has no separate mounts."""
        self._kills_before = 0 if cgroup else host_memory.kills()

    def kill(self) -> None:
        """Send SIGKILL to the first process of the box; in a pid namespace all others end with it."""
        if self.ended.is_set():
            return
        if self.killer is not None:
            self.killer()
        elif self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    @property
    def beyond_its_memory(self) -> bool:
        """Return whether the kernel killed a process of the box because the box reached its own limit."""
        return self.cgroup is not None and self.cgroup.out_of_memory and self.cgroup.reached_its_limit

    def killed_for_others(self, reason: str) -> bool:
        """Return whether the kernel killed the box because this machine, or a container around us, had no memory left.

        Args:
            reason: how the box ended, by `exit_reason`. Without a cgroup, a box that was killed while the kernel killed
                for want of memory anywhere counts as well: the program can do that to itself, and gains no point by it.
        """
        if self.cgroup is not None:
            return self.cgroup.out_of_memory and not self.cgroup.reached_its_limit
        return reason in BY_SIGKILL and host_memory.kills() > self._kills_before

    @property
    def user(self) -> int | None:
        """Return the id of the box's own user; None if it has none."""
        return self.uid.uid if self.uid else None

    @property
    def first(self) -> int:
        """Return the pid of the first process of the box, as this process sees it; 0 when it has ended."""
        return processes.pid_of(self.pidfd) if self.pidfd >= 0 else self.pid

    @property
    def is_gone(self) -> bool:
        """Return whether the first process has ended."""
        if self.ended.is_set() or self.pidfd < 0:
            return self.ended.is_set()
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def free(self) -> None:
        """Free all resources; the box has ended."""
        if self.pidfd >= 0:
            select.select([self.pidfd], [], [], _REAP_S)  # the fork server may have died before its boxes
            os.close(self.pidfd)
            self.pidfd = -1
        if self.cgroup:
            self.cgroup.remove()
        if self.uid:
            self.uid.give_back()
