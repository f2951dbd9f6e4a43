"""What belongs to one box on the examiner's side: the way to kill it, its user, its cgroup, its files."""

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Final

from viva.sandbox.host.limits import processes
from viva.sandbox.host.limits.cgroups import BoxCgroup
from viva.sandbox.host.limits.uids import BorrowedUid

_PATIENCE_S: Final = 2.0


class Handle:
    """Made before the box, given back after it."""

    def __init__(self, number: int, uid: BorrowedUid | None = None, cgroup: BoxCgroup | None = None) -> None:
        self.number, self.uid, self.cgroup = number, uid, cgroup
        self.ended = threading.Event()
        """Set once the box is reaped, all it left behind is gone, and whoever made it has said so."""
        self.pidfd = -1
        """Of the first process of the box, where there are such things."""
        self.pid = 0
        """The same where there is no pidfd."""
        self.killer: Callable[[], None] | None = None
        """The way to kill it where there is no pidfd."""
        self.room: str | None = None
        """The directory of its files, where it has no mounts of its own."""

    def kill(self) -> None:
        """SIGKILL to the first process of the box; in a pid namespace all others end with it."""
        if self.ended.is_set():
            return
        if self.killer is not None:
            self.killer()
        elif self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    @property
    def first(self) -> int:
        """The first process of the box, as this process numbers it; 0 when it has ended."""
        return processes.pid_of(self.pidfd) if self.pidfd >= 0 else self.pid

    @property
    def is_gone(self) -> bool:
        """Whether the first process has ended."""
        if self.ended.is_set() or self.pidfd < 0:
            return self.ended.is_set()
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def free(self) -> None:
        """Give everything back; the box has ended."""
        if self.pidfd >= 0:
            select.select([self.pidfd], [], [], _PATIENCE_S)  # the fork server may have died before its boxes
            os.close(self.pidfd)
            self.pidfd = -1
        if self.cgroup:
            self.cgroup.remove()
        if self.uid:
            self.uid.give_back()
