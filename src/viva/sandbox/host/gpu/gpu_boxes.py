"""Boxes with a GPU: made on request by a separate fork server, one at a time for each GPU."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Self

from viva.sandbox.errors import BoxUnavailable, GpuUnavailable
from viva.sandbox.gpu import Gpu, GpuSet, GpuUse
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.gpu.gpu_check import StepResult, check
from viva.sandbox.host.gpu.gpu_lease import GpuLease
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

_HARDWARE: Final = ("/sys/bus/pci", "/sys/devices")
"""What libcuda reads to find a GPU; only these boxes see it."""


class GpuBoxes:
    """The fork server whose boxes see a GPU; it never calls CUDA itself, because CUDA does not survive a fork."""

    def __init__(self, fork_server: ForkServer, limits: Limits, gpus: GpuSet) -> None:
        self._fork_server, self._limits, self._gpus = fork_server, limits, gpus
        self._faults: dict[Gpu, str] = {}
        """What is wrong with each GPU that was checked; empty if nothing is."""
        self._last: Gpu | None = None
        """The GPU of the last box."""

    @classmethod
    def start(
        cls,
        tier: Tier,
        limits: Limits,
        gpus: GpuSet,
        *,
        preload: Sequence[str],
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
            tier, preload=preload, python=python, readable=readable, hidden=hidden, devices=[*devices]
        )
        return cls(fork_server, limits, gpus)

    def take(
        self, needed_mib: int, on_wait: Callable[[str], None], *, deterministic: bool = True
    ) -> tuple[Box, Callable[[], GpuUse]]:
        """Make a box with a GPU; return it, and a function that returns how much of the GPU was used.

        The caller closes the box, which frees the GPU for others. A GPU is checked before its first box, and never used
        if it fails.

        Args:
            needed_mib: MiB of GPU memory that the box needs; a GPU that is large enough must exist.
            on_wait: called with a line about every second while others hold the GPU.
            deterministic: whether torch uses deterministic algorithms in the box.

        Raises:
            GpuUnavailable: Others hold the GPU, or its memory is not free.
            BoxUnavailable: The box cannot be made, or each GPU that is large enough has failed its check.
        """
        lease = self._lease_sound(needed_mib, on_wait)
        try:
            box = self._fork_server.spawn(self._limits, gpu=lease.gpu, deterministic=deterministic)
        except BaseException:
            lease.give_back()
            raise
        box.afterwards = lease.give_back
        self._last = lease.gpu
        return box, lambda: lease.use

    def check(self, gpu: Gpu, on_wait: Callable[[str], None] = lambda _: None) -> list[StepResult]:
        """Check a GPU now, in boxes of its own, and use it no more if it fails.

        Raises:
            GpuUnavailable: Others hold the GPU, or its memory is not free.
            BoxUnavailable: A box cannot be made.
        """
        lease = GpuLease.take([gpu], on_wait)
        try:
            return self._check(gpu)
        finally:
            lease.give_back()

    def check_last(self, on_wait: Callable[[str], None] = lambda _: None) -> None:
        """Check the GPU of the last box again, after a program that lost points there.

        Args:
            on_wait: called with a line about every second while others hold the GPU.

        Raises:
            BoxUnavailable: The GPU fails its check now, or cannot be checked: the program may not be at fault.
        """
        if self._last is None or self._gpus.checked:
            return
        try:
            if not self._faults.get(self._last):
                self.check(self._last, on_wait)
        except GpuUnavailable as error:
            raise BoxUnavailable(f"the GPU could not be checked: {error.reason}") from error
        if fault := self._faults[self._last]:
            raise BoxUnavailable(fault)

    def _lease_sound(self, needed_mib: int, on_wait: Callable[[str], None]) -> GpuLease:
        """Lease a GPU that is large enough and has not failed its check."""
        large = self._gpus.large_enough(needed_mib)
        faults = {gpu: self._faults[gpu] for gpu in large if self._faults.get(gpu)}
        while left := [gpu for gpu in large if gpu not in faults]:
            lease = GpuLease.take(left, on_wait)
            try:
                fault = self._fault_of(lease.gpu)
            except BaseException:
                lease.give_back()
                raise
            if not fault:
                return lease
            lease.give_back()
            faults[lease.gpu] = fault
        raise BoxUnavailable(faults[large[0]])

    def _fault_of(self, gpu: Gpu) -> str:
        """Return what is wrong with a GPU that is leased, empty if nothing is; it is checked unless it was before."""
        if self._gpus.checked or gpu in self._faults:
            return self._faults.get(gpu, "")
        try:
            self._check(gpu)
        except BoxUnavailable as error:  # of which the GPU need not be the cause, so it is checked again next time
            return str(error)
        return self._faults[gpu]

    def _check(self, gpu: Gpu) -> list[StepResult]:
        """Check a GPU that is leased; remember what is wrong with it."""
        results = check(partial(self._fork_server.spawn, self._limits, gpu=gpu), self._limits.memory_mib)
        problem = next((result.sentence for result in results if result.problem), "")
        self._faults[gpu] = f"{gpu.name} ({gpu.bus}) failed its check: {problem}" if problem else ""
        return results

    @property
    def lost(self) -> bool:
        """Return whether the fork server ended without being closed."""
        return self._fork_server.lost

    def close(self) -> None:
        """End the boxes and the fork server."""
        self._fork_server.close()
