"""GPUs that sandboxes can have, and the use of one."""

from dataclasses import dataclass


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
class GpuSet:
    """The GPUs of this machine."""

    devices: tuple[Gpu, ...] = ()
    refused: tuple[str, ...] = ()
    """GPUs of this machine that sandboxes cannot use, each as a clause that says why."""
    checked: bool = False
    """Whether the caller has just checked the devices; otherwise each is checked before it is first used."""

    def large_enough(self, needed_mib: int) -> tuple[Gpu, ...]:
        """List the GPUs with at least this much memory; those of unknown memory only for `needed_mib` 0."""
        return tuple(gpu for gpu in self.devices if not needed_mib or (gpu.memory_mib or 0) >= needed_mib)


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The GPU that programs were run on."""

    name: str
    """The GPU's model."""
    driver: str
    """The version of the driver."""
    memory_mib: int | None = None
    """None where unknown."""
    peak_mib: int | None = None
    """The highest memory use that was seen, beyond what was in use before; read twice a second, so that a short peak
    may be missed. None where unknown."""
