"""One box for each GPU at a time, over all examiners and commands of the machine.

The lease is a lock on a file, which the kernel releases when its holder ends, however it ends. The file holds how much
memory was in use before the box started; it is emptied once no more than that is in use again. If the file is not empty
when the next lease is taken, an earlier box has left memory behind: the lease waits until that memory is free.
"""

import contextlib
import json
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from viva.sandbox.errors import GpuUnavailable
from viva.sandbox.gpu import Gpu, GpuUse
from viva.sandbox.host.gpu.gpus import used_mib

TOLERANCE_MIB: Final = 64
"""MiB that the driver may keep for itself after a box has ended."""
SETTLE_S: Final = 15.0
"""Seconds until the memory of an ended box must be free."""
PATIENCE_S: Final = 3600.0
"""Seconds to wait for a GPU that others hold."""
_SAMPLE_S: Final = 0.5
_RETRY_S: Final = 0.2
_FOLDER: Final = Path("/tmp")  # noqa: S108  # all users share the lock; O_NOFOLLOW and a sticky folder protect it
"""The same folder for every user of the machine, which TMPDIR is not."""
_IN_USE: Final = "the GPU was in use by others"
_NOT_FREE: Final = "the GPU still held the memory of an earlier program"


class GpuLease:
    """A GPU that this process holds until `give_back`."""

    def __init__(self, gpu: Gpu, fd: int, baseline_mib: int | None) -> None:
        self.gpu = gpu
        self._fd = fd
        self._baseline_mib = baseline_mib
        self._peak_mib: int | None = None
        self._stop = threading.Event()
        self._watch = threading.Thread(target=self._sample_memory, name=f"viva gpu {gpu.bus}", daemon=True)
        if baseline_mib is not None:
            self._peak_mib = 0
            self._watch.start()

    @classmethod
    def take(
        cls,
        gpus: Sequence[Gpu],
        on_wait: Callable[[str], None] = lambda _: None,
        *,
        patience_s: float = PATIENCE_S,
        settle_s: float = SETTLE_S,
    ) -> Self:
        """Wait for one of the GPUs, and until its memory is as free as before the last box.

        Args:
            gpus: the GPUs to choose from.
            on_wait: called with a line about every second while others hold them all.
            patience_s: how long to wait for a GPU.
            settle_s: how long to wait for its memory.

        Raises:
            GpuUnavailable: Others held them all the time, or memory is still in use; the message says how much.
        """
        gpu, fd = _lock_one(gpus, on_wait, patience_s)
        try:
            return cls(gpu, fd, _settled(gpu, fd, settle_s))
        except BaseException:
            os.close(fd)
            raise

    @property
    def use(self) -> GpuUse:
        """Return which GPU is used, and the peak memory so far."""
        return GpuUse(self.gpu.name, self.gpu.driver, self.gpu.memory_mib, self._peak_mib)

    def give_back(self, *, settle_s: float = SETTLE_S) -> None:
        """Release the GPU once the memory of the ended box is free; may be called more than once."""
        if self._fd < 0:
            return
        self._stop.set()
        if self._watch.is_alive():
            self._watch.join()
        if self._baseline_mib is not None and _free(self.gpu, self._baseline_mib, settle_s) is None:
            os.ftruncate(self._fd, 0)
        os.close(self._fd)
        self._fd = -1

    def _sample_memory(self) -> None:
        """Record the peak of the memory in use, beyond what was in use before."""
        while not self._stop.wait(_SAMPLE_S):
            used = used_mib(self.gpu)
            if used is not None and self._baseline_mib is not None:
                self._peak_mib = max(self._peak_mib or 0, used - self._baseline_mib)


def lock_file(gpu: Gpu) -> Path:
    """Return the path of the file that is locked while a box uses the GPU."""
    folder = _FOLDER if _FOLDER.is_dir() else Path(tempfile.gettempdir())
    part = f"-mig-{gpu.slice.replace('/', '-')}" if gpu.slice else ""
    return folder / f"viva-gpu-{gpu.bus.replace(':', '-')}{part}.lock"


def _lock_one(gpus: Sequence[Gpu], on_wait: Callable[[str], None], patience_s: float) -> tuple[Gpu, int]:
    """Lock the first free GPU; return it and the descriptor that holds the lock."""
    started = reported = time.monotonic()
    while True:
        for gpu in gpus:
            fd = _try_lock(lock_file(gpu))
            if fd is not None:
                return gpu, fd
        now = time.monotonic()
        if now - started >= patience_s:
            names = ", ".join(str(lock_file(gpu)) for gpu in gpus)
            raise GpuUnavailable(_IN_USE, f"no one released {names} within {patience_s:g} s")
        if now - reported >= 1:
            reported = now
            on_wait(f"waiting for {gpus[0].name}, {now - started:.0f} s so far")
        time.sleep(_RETRY_S)


def _try_lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock; None while another process holds it."""
    import fcntl

    fd = _open(path)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise GpuUnavailable(_IN_USE, f"{path} is not a regular file")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _open(path: Path) -> int:
    """Open the lock file, and create it if needed; every user of the machine may hold the lock.

    Raises:
        GpuUnavailable: The file cannot be opened.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)  # in a sticky folder, O_CREAT fails on another user's file
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            os.fchmod(fd, 0o666)
            return fd
        return os.open(path, flags)
    except OSError as error:
        raise GpuUnavailable(_IN_USE, f"{path} cannot be locked: {error.strerror}") from error


def _settled(gpu: Gpu, fd: int, settle_s: float) -> int | None:
    """Record in the file how much memory is in use before the box starts, and return it; None if it is unknown.

    Raises:
        GpuUnavailable: The memory of an earlier box is not free.
    """
    before = _left_behind(fd)
    if before is not None and (held := _free(gpu, before, settle_s)) is not None:
        raise GpuUnavailable(
            _NOT_FREE,
            f"{gpu.name} ({gpu.bus}) has {held:,} MiB in use, and had {before:,} MiB before the box that was there; "
            f"if that is another program's, end it or empty {lock_file(gpu)}",
        )
    baseline = used_mib(gpu)
    if baseline is not None:
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps({"baseline_mib": baseline, "pid": os.getpid()}).encode(), 0)
    return baseline


def _left_behind(fd: int) -> int | None:
    """Read how much memory was in use before a box that may still hold some; None if no box left any behind."""
    try:
        found = json.loads(os.pread(fd, 4096, 0) or b"null")
        return int(found["baseline_mib"]) if found is not None else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None  # viva did not write this, so it says nothing


def _free(gpu: Gpu, baseline_mib: int, settle_s: float) -> int | None:
    """Wait until no more memory is in use than before; return None then (or if unknown), else the MiB still in use."""
    deadline = time.monotonic() + settle_s
    while True:
        used = used_mib(gpu)
        if used is None or used <= baseline_mib + TOLERANCE_MIB:
            return None
        if time.monotonic() >= deadline:
            return used
        time.sleep(_SAMPLE_S)
