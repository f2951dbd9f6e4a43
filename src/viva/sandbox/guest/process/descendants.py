"""Ending descendants where no namespace does it: as the user of the box at once, or child by child."""

from __future__ import annotations

import os
import signal
from typing import Container, Set


def children() -> Set[int]:
    """Pids of this (single-threaded) process's children; empty where /proc cannot say."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return _children_by_scan()


def _children_by_scan() -> Set[int]:
    """The same for kernels built without the list: every process says who its parent is."""
    me, found = os.getpid(), set()
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                # The command may hold spaces and brackets; the parent is the second field after its last bracket.
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == me:
            found.add(pid)
    return found


def end_orphans(keep: Container[int]) -> None:
    """Kill every child that is not in `keep`, and all that fall to us when those end, until none is left.

    We are the subreaper: whatever a box started and left behind becomes our child.
    """
    while True:
        strangers = {pid for pid in children() if pid not in keep}
        if not strangers:
            return
        for pid in strangers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for pid in strangers:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                continue


def sweep_user(uid: int) -> None:
    """Kill everything that runs as `uid`, in one call that no fork can outrun; needs root."""
    helper = os.fork()
    if helper == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass  # nobody was there
        finally:
            os._exit(0)
    os.waitpid(helper, 0)
