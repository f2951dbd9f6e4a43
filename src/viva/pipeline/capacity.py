"""How many examiners this machine has room for."""

import os
from typing import Final

from viva.sandbox.host.limits.host_memory import container_mib

EXAMINER_MIB: Final = 512
"""What an examiner and its fork server take, with torch in both."""


def cores() -> int:
    """Return how many processor cores may be used."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def within_memory(examiners: int, box_mib: int) -> int:
    """Return how many examiners fit into memory: at least one, at most as many as given.

    Args:
        examiners: how many there would be.
        box_mib: what a box of each may use.
    """
    there = container_mib()
    return examiners if there is None else max(1, min(examiners, there // (EXAMINER_MIB + box_mib)))
