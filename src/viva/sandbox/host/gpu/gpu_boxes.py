"""Boxes that have a GPU: made when they are asked for, from a fork server of their own, one at a time for each GPU."""

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
"""What libcuda reads to learn where a GPU is; shown to these boxes only."""


class GpuBoxes:
    """The fork server whose boxes see a GPU; it calls nothing of CUDA itself, because no fork survives that."""

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
        """Make libraries warm; the GPUs are touched by boxes alone. The arguments are those of fork server.start.

        Raises:
            BoxUnavailable: one sentence that says what is missing on this host.
        """
        devices = dict.fromkeys(path for gpu in gpus.devices for path in (*gpu.shared, gpu.device))
        if lost := [path for path in devices if not Path(path).exists()]:
            raise BoxUnavailable(f"{lost[0]} was there when GPUs were looked for, and is not any more")
        readable = [path for path in map(Path, _HARDWARE) if path.is_dir()]
        fork_server = ForkServer.start(
            tier, preload=preload, python=python, readable=readable, hidden=hidden, devices=[*devices], cores=cores
        )
        return cls(fork_server, limits, gpus)

    def take(self, needed_mib: int, on_wait: Callable[[str], None]) -> tuple[Box, Callable[[], GpuUse]]:
        """A fresh box with a GPU of so much memory, the caller's to close, and what tells how the GPU was used.

        The GPU is free for others when the box is closed.

        Args:
            needed_mib: MiB of the GPU's memory; one that is large enough exists.
            on_wait: called with a line every second or so while others hold the GPU.

        Raises:
            GpuUnavailable: others hold it, or its memory is not free.
            BoxUnavailable: the box cannot be made.
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
        """Whether the fork server ended though nobody here ended it."""
        return self._fork_server.lost

    def close(self) -> None:
        """End the boxes and the fork server."""
        self._fork_server.close()
