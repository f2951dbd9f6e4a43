"""The container's memory, and how much of it is left for the student's program.

Above its limit, the platform's kernel kills some process, perhaps the harness, and the student sees only "Killed".
So the box gets a limit of its own that leaves room for the examiner and the fork server.
"""

from dataclasses import dataclass
from typing import Final

MARGIN_MIB: Final = 64
"""For the platform's own process, the kernel's pages, and what measurements miss."""
LEAST_MIB: Final = 64


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The memory that the box gets."""

    memory_mib: int
    """0 where the container is too small."""
    limit_mib: int | None
    """The container's limit; None where it is not known."""
    needed_mib: int
    """The memory of the smallest container in which the measured processes fit."""

    @property
    def fits(self) -> bool:
        """Return whether grading can begin."""
        return self.memory_mib > 0


def plan_memory(limit_mib: int | None, wanted_mib: int, rest_mib: int, box_mib: int) -> MemoryPlan:
    """Divide the container's memory.

    Args:
        limit_mib: of the container; None where it is not known.
        wanted_mib: `limits.memory_mib` of the assignment.
        rest_mib: examiner and fork server, as measured.
        box_mib: what a right submission used in its box.
    """
    least = max(LEAST_MIB, box_mib)
    needed = rest_mib + MARGIN_MIB + least
    if limit_mib is None:
        return MemoryPlan(wanted_mib, None, needed)
    left = limit_mib - rest_mib - MARGIN_MIB
    return MemoryPlan(min(wanted_mib, left) if left >= least else 0, limit_mib, needed)
