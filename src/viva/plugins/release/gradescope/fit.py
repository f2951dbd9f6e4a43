"""Which of the platform's containers an assignment fits, according to what grading a right submission used."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viva.config import Assignment
from viva.plugins.release.gradescope.container_memory import MARGIN_MIB, MemoryPlan, plan_memory
from viva.plugins.release.gradescope.harness import MARGIN_S
from viva.plugins.release.gradescope.measure import Measurement

if TYPE_CHECKING:
    from rich.table import Table

SIZES: Final = ((0.5, 768), (1.0, 1536), (2.0, 3072), (4.0, 6144))
"""The platform's sizes: processors (at least) and MiB (at most)."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One container size, and whether grading fits it."""

    cpus: float
    memory_mib: int
    shared: MemoryPlan
    seconds: float
    """How long a right submission takes, about."""
    limit_s: float

    @property
    def fits(self) -> bool:
        """Return whether memory and time suffice, with a margin."""
        return self.shared.fits and self.seconds < self.limit_s

    @property
    def name(self) -> str:
        """Return the platform's name for this size."""
        return f"{self.cpus:g} CPU, {self.memory_mib / 1024:g} GB"


def fits(assignment: Assignment, measured: Measurement) -> Iterator[Fit]:
    """Yield every size, the smallest first."""
    limit_s = assignment.release.gradescope.timeout - MARGIN_S
    for cpus, memory_mib in SIZES:
        shared = plan_memory(memory_mib, assignment.limits.memory_mib, measured.rest_mib, measured.box_mib)
        yield Fit(cpus, memory_mib, shared, measured.seconds_on(cpus), limit_s)


def sentence(assignment: Assignment, measured: Measurement) -> str:
    """Return what was measured and the smallest size in which it fits, in two lines."""
    first = next((fit for fit in fits(assignment, measured) if fit.fits), None)
    took = (
        f"A right submission took {measured.wall_s:.0f} s ({measured.cpu_s:.0f} s of processor time) and "
        f"{measured.peak_mib} MiB ({measured.rest_mib} without its own {measured.box_mib})."
    )
    if first is None:
        return f"{took}\nIt fits no container of Gradescope's: give it less to load, or less to do."
    less = assignment.limits.memory_mib
    box = first.shared.memory_mib
    room = f"; a program may take {box} MiB there, not {less}" if box < less else ""
    return f"{took}\nThe smallest container in which that fits: {first.name}{room} (a margin of {MARGIN_MIB} MiB kept)."


def table(assignment: Assignment, measured: Measurement) -> "Table":
    """Return every size as a table for a terminal."""
    from rich.table import Table

    shown = Table()
    for heading in ("container", "fits", "memory for the program", "a right submission takes about"):
        shown.add_column(heading, overflow="fold")
    for fit in fits(assignment, measured):
        wanted = assignment.limits.memory_mib
        memory = f"{fit.shared.memory_mib} of {wanted} MiB" if fit.shared.fits else f"needs {fit.shared.needed_mib} MiB"
        seconds = f"{fit.seconds:.0f} s of {fit.limit_s:.0f}"
        shown.add_row(fit.name, "✓ yes" if fit.fits else "✗ no", memory, seconds)
    return shown
