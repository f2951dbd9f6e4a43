"""GPUs that a run offers to tests, and what a test needs of one."""

from dataclasses import dataclass
from typing import Final

from viva.model.hand_grading import NOT_GRADED_YET
from viva.sandbox.gpu import Gpu as Gpu
from viva.sandbox.gpu import GpuSet
from viva.sandbox.gpu import GpuUse as GpuUse

LEFT_OUT: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and tests for a GPU were left out of this run."
NONE_HERE: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and there was none."
REFUSED: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and {{}}."


@dataclass(frozen=True, slots=True)
class Gpus(GpuSet):
    """What a run offers to tests marked `gpu`."""

    why_none: str = LEFT_OUT
    """What the student reads where there is no device."""
    for_training: bool = False
    """Whether tests that train get a GPU as well, to compare what they reach there with what they reach on the CPU."""

    @classmethod
    def offer(cls, found: GpuSet) -> "Gpus":
        """Offer all GPUs that were found on this machine."""
        why_none = REFUSED.format(found.refused[-1]) if found.refused else NONE_HERE
        return cls(found.devices, found.refused, found.checked, why_none)

    def reason_unavailable(self, needed_mib: int) -> str:
        """Tell the student why a test that needs a GPU with this much memory does not run; empty where it can run."""
        if not self.devices:
            return self.why_none
        if self.large_enough(needed_mib):
            return ""
        needs = f"{NOT_GRADED_YET}: this test needs a GPU with {needed_mib:,} MiB of memory, and"
        largest = max(self.devices, key=lambda gpu: gpu.memory_mib or 0)
        if largest.memory_mib is None:
            return f"{needs} how much {largest.name} has is not known."
        which = "the largest" if len(self.devices) > 1 else "the one"
        return f"{needs} {which} here, {largest.name}, has {largest.memory_mib:,} MiB."


@dataclass(frozen=True, slots=True)
class GpuNeed:
    """What a test needs of a GPU."""

    memory_mib: int = 0
    """MiB of its memory; 0 for any GPU."""
    nondeterministic: str = ""
    """Why torch must not be told to use deterministic algorithms; empty if it is."""
