"""End descendants where no namespace does it: all processes of the box's user at once, or child by child."""

from __future__ import annotations

import os
import signal
from typing import Container, Set


def children() -> Set[int]:
    """Return the pids of this (single-threaded) process's children; empty if /proc does not list them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return set()


def end_orphans(keep: Container[int]) -> None:
    """Kill every child that is not in `keep`, and those that are inherited when these end, until none is left.

    This process is the subreaper: whatever a box started and left behind becomes its child.
    """
    while True:
        orphans = {pid for pid in children() if pid not in keep}
        if not orphans:
            return
        for pid in orphans:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for pid in orphans:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                continue


def sweep_user(uid: int) -> None:
    """Kill everything that runs as `uid` in one call, which no fork can escape; needs root.

    The process that makes the call belongs to the user for a moment, in which the others may kill it: then another one
    is made.
    """
    swept = False
    while not swept:
        helper = os.fork()
        if helper == 0:
            try:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                os.kill(-1, signal.SIGKILL)
            except OSError:
                pass  # no process of the user was left
            finally:
                os._exit(0)
        swept = os.waitpid(helper, 0)[1] == 0
