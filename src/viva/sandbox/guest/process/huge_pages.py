"""Move the fork server's memory to huge pages, so that a fork copies tens of entries instead of tens of thousands.

Measured with torch imported (190 MB of private memory): a fork takes 0.5 ms instead of 2.5 ms, and each box needs two.
A box that writes still gets its own small pages, so its private memory does not grow.
"""

from __future__ import annotations

import os
from typing import List, Tuple

from ..lockdown import kernel_calls

_HUGE = 2 << 20
_COLLAPSE = 25
"""MADV_COLLAPSE, since Linux 6.1; older kernels refuse it and nothing changes."""


def gather(self_view: int) -> int:
    """Move private memory of this process to huge pages where the kernel can; return the number of bytes moved.

    Args:
        self_view: a descriptor of /proc/self.
    """
    moved = 0
    for start, end in _private_memory(self_view):
        first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if first >= last:
            continue
        try:
            kernel_calls.madvise(first, last - first, _COLLAPSE)
        except OSError:
            continue  # no huge page is free now, or the host has none
        moved += last - first
    return moved


def _private_memory(self_view: int) -> List[Tuple[int, int]]:
    """Return the address ranges that are writable, private and not file-backed."""
    found = []
    with open(os.open("maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self_view)) as file:
        lines = file.read().splitlines()
    for line in lines:
        fields = line.split(None, 5)
        name = fields[5] if len(fields) == 6 else ""
        anonymous = not name or name.startswith(("[heap]", "[anon"))
        if anonymous and fields[1].startswith("rw") and fields[1].endswith("p"):
            start, _, end = fields[0].partition("-")
            found.append((int(start, 16), int(end, 16)))
    return found
