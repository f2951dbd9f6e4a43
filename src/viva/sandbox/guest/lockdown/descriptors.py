"""Which descriptors a process keeps; an inherited one would bypass every other isolation layer."""

from __future__ import annotations

import os
from typing import Iterable


def close_all_but(kept: Iterable[int]) -> None:
    """Close every descriptor except 0, 1, 2 and `kept`; on Windows none is inherited."""
    if not hasattr(os, "fork"):
        return
    low = 3
    for fd in sorted({fd for fd in kept if fd > 2}):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def check_only(kept: Iterable[int]) -> str:
    """Read back which descriptors are open, and raise OSError for any other; if /proc is hidden, the result says so."""
    try:
        found = {int(name) for name in os.listdir("/proc/self/fd")}
    except OSError:
        return "closed (not read back)"
    allowed = {0, 1, 2, *kept}
    extra = {fd for fd in found - allowed if _is_open(fd)}  # the descriptor of the listing itself is closed by now
    if extra:
        raise OSError(f"descriptors left open: {sorted(extra)}")
    return "closed"


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def standard_streams(output: int) -> None:
    """Connect stdin to the null device, and stdout and stderr to the pipe that the examiner drains."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if nothing > 2:
        os.close(nothing)
