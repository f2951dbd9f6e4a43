"""GPUs that a run offers to tests, what a test needs of one, and the GPU that a test used."""

from dataclasses import dataclass
from typing import Final

from viva.model.hand_grading import NOT_GRADED_YET

LEFT_OUT: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and tests for a GPU were left out of this run."
NONE_HERE: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and there was none."
REFUSED: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and {{}}."


@dataclass(frozen=True, slots=True)
class Gpu:
    """One NVIDIA GPU of this machine, or a MIG slice of one."""

    bus: str
    """Its address on the PCI bus, `0000:01:00.0`: the same for every process of the machine."""
    uuid: str
    """`GPU-…` or `MIG-…`, by which CUDA selects it; empty where unknown."""
    name: str
    """`NVIDIA L4`."""
    driver: str
    """Version of the driver, `550.90.07`; empty where unknown."""
    memory_mib: int | None
    """Its memory in MiB; None where unknown."""
    device: str
    """The device file, `/dev/nvidia0`."""
    shared: tuple[str, ...]
    """Device files that all GPUs share, `/dev/nvidiactl` first."""
    slice: str = ""
    """If it is a MIG slice: its GPU instance and compute instance, `1/0`. Then `bus` and `device` are its GPU's."""
    capabilities: tuple[str, ...] = ()
    """Device files of a MIG slice alone, `/dev/nvidia-caps/nvidia-cap12`."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return all device files that a sandbox with this GPU needs."""
        return (*self.shared, self.device, *self.capabilities)


@dataclass(frozen=True, slots=True)
class Gpus:
    """What a run offers to tests marked `gpu`."""

    devices: tuple[Gpu, ...] = ()
    why_none: str = LEFT_OUT
    """What the student reads where there is no device."""
    refused: tuple[str, ...] = ()
    """GPUs of this machine that sandboxes cannot use, each as a clause that says why."""
    checked: bool = False
    """Whether the caller has just checked the devices; otherwise each examiner does before it uses one."""
    for_training: bool = False
    """Whether tests that train get a GPU as well, to compare what they reach there with what they reach on the CPU."""

    def large_enough(self, needed_mib: int) -> tuple[Gpu, ...]:
        """List the GPUs with at least this much memory; those of unknown memory only for `needed_mib` 0."""
        return tuple(gpu for gpu in self.devices if not needed_mib or (gpu.memory_mib or 0) >= needed_mib)

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


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The GPU that tests of one submission were run on."""

    name: str
    """The GPU's model."""
    driver: str
    """The version of the driver."""
    memory_mib: int | None = None
    """None where unknown."""
    peak_mib: int | None = None
    """The highest memory use that was seen, beyond what was in use before; read twice a second, so that a short peak
    may be missed. None where unknown."""
