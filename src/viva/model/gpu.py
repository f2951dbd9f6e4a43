"""GPUs that a run offers to tests, and what such a test was run on."""

from dataclasses import dataclass
from typing import Final

LEFT_OUT: Final = "Not marked yet: this test needs a GPU, and tests for a GPU were left out of this run."
NONE_HERE: Final = "Not marked yet: this test needs a GPU, and there was none."


@dataclass(frozen=True, slots=True)
class Gpu:
    """One NVIDIA GPU of this machine."""

    bus: str
    """Its place on the PCI bus, `0000:01:00.0`: the same name for every process of the machine."""
    uuid: str
    """`GPU-…`, by which CUDA is told to use it; empty where nothing says it."""
    name: str
    """`NVIDIA L4`."""
    driver: str
    """Version of the driver, `550.90.07`; empty where nothing says it."""
    memory_mib: int | None
    """Its memory in MiB; None where nothing says it."""
    device: str
    """The device file, `/dev/nvidia0`."""
    shared: tuple[str, ...]
    """Device files that belong to all GPUs together, `/dev/nvidiactl` first."""


@dataclass(frozen=True, slots=True)
class Gpus:
    """What a run offers to tests marked `gpu`."""

    devices: tuple[Gpu, ...] = ()
    why_none: str = LEFT_OUT
    """What the student reads where there is no device."""

    def large_enough(self, needed_mib: int) -> tuple[Gpu, ...]:
        """The GPUs with at least so many MiB of memory; one whose memory is not known only if none is asked for."""
        return tuple(gpu for gpu in self.devices if not needed_mib or (gpu.memory_mib or 0) >= needed_mib)

    def lacking(self, needed_mib: int) -> str:
        """Why a test that needs a GPU with so many MiB is not run, as the student reads it; empty where it can be."""
        if not self.devices:
            return self.why_none
        if self.large_enough(needed_mib):
            return ""
        needs = f"Not marked yet: this test needs a GPU with {needed_mib:,} MiB of memory, and"
        largest = max(self.devices, key=lambda gpu: gpu.memory_mib or 0)
        if largest.memory_mib is None:
            return f"{needs} how much {largest.name} has is not known."
        which = "the largest" if len(self.devices) > 1 else "the one"
        return f"{needs} {which} here, {largest.name}, has {largest.memory_mib:,} MiB."


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The GPU that tests of one submission were run on."""

    name: str
    driver: str
    memory_mib: int | None
    peak_mib: int | None
    """The most memory seen in use at once, beyond what was in use before; read twice a second, so that a short peak may
    be missed. None where nothing says it."""
