"""Boxes with a GPU: made on request by a separate fork server, one at a time for each GPU."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from viva.model import Limits, Tier
from viva.model.errors import BoxUnavailable
from viva.model.gpu import Gpus, GpuUse
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.gpu.gpu_lease import GpuLease

_HARDWARE: Final = ("/sys/bus/pci", "/sys/devices")
"""What libcuda reads to find a GPU; only these boxes see it."""


class GpuBoxes:
    """The fork server whose boxes see a GPU; it never calls CUDA itself, because CUDA does not survive a fork."""

    def __init__(self, fork_server: ForkServer, limits: Limits, gpus: Gpus) -> None:
        self._fork_server, self._limits, self._gpus = fork_server, limits, gpus

    @classmethod
    def start(
        cls,
        tier: Tier,
        limits: Limits,
        gpus: Gpus,
        *,
        preload: Sequence[str],
        cores: Sequence[int],
        python: str,
        hidden: Sequence[Path] = (),
    ) -> Self:
        """Import the libraries; only boxes use the GPUs. The arguments are those of `ForkServer.start`.

        Raises:
            BoxUnavailable: One sentence says what is missing on this host.
        """
        devices = dict.fromkeys(path for gpu in gpus.devices for path in gpu.files)
        if lost := [path for path in devices if not Path(path).exists()]:
            raise BoxUnavailable(f"{lost[0]} was there when GPUs were looked for, and is not any more")
        readable = [path for path in map(Path, _HARDWARE) if path.is_dir()]
        fork_server = ForkServer.start(
            tier, preload=preload, python=python, readable=readable, hidden=hidden, devices=[*devices], cores=cores
        )
        return cls(fork_server, limits, gpus)

    def take(self, needed_mib: int, on_wait: Callable[[str], None]) -> tuple[Box, Callable[[], GpuUse]]:
        """Make a box with a GPU; return it, and a function that returns how much of the GPU was used.

        The caller closes the box, which frees the GPU for others.

        Args:
            needed_mib: MiB of GPU memory that the box needs; a GPU that is large enough must exist.
            on_wait: called with a line about every second while others hold the GPU.

        Raises:
            GpuUnavailable: Others hold the GPU, or its memory is not free.
            BoxUnavailable: The box cannot be made.
        """
        lease = GpuLease.take(self._gpus.large_enough(needed_mib), on_wait)
        try:
            box = self._fork_server.spawn(self._limits, gpu=lease.gpu)
        except BaseException:
            lease.give_back()
            raise
        box.afterwards = lease.give_back
        return box, lambda: lease.use

    @property
    def lost(self) -> bool:
        """Return whether the fork server ended without being closed."""
        return self._fork_server.lost

    def close(self) -> None:
        """End the boxes and the fork server."""
        self._fork_server.close()
