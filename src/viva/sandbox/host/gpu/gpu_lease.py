"""One box per GPU at a time, over all examiners and commands of the machine; its memory is free again before the next.

The lease is a lock on a file, which the kernel lets go when its holder ends, however it ends. The file holds how much
memory was in use before the box came; it is emptied once that is so again. What stands in it when somebody takes the
lease was left behind, and is waited for first.
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

from viva.model.errors import GpuUnavailable
from viva.model.gpu import Gpu, GpuUse
from viva.sandbox.host.gpu.gpus import used_mib

TOLERANCE_MIB: Final = 64
"""What the driver may keep for itself after a box has ended."""
SETTLE_S: Final = 15.0
"""How long it may take until the memory of an ended box is free."""
PATIENCE_S: Final = 3600.0
"""How long to wait for a GPU that others hold."""
_LOOK_S: Final = 0.5
_TRY_S: Final = 0.2
_FOLDER: Final = Path("/tmp")
"""The same for every user of the machine, which TMPDIR is not."""
_IN_USE: Final = "Not marked yet: this test needs a GPU, and the one here was in use by others."
_NOT_FREE: Final = (
    "Not marked yet: this test needs a GPU, and the one here still held the memory of an earlier program."
)

Sleep = Callable[[float], None]


class GpuLease:
    """A GPU that is ours until it is given back."""

    def __init__(self, gpu: Gpu, fd: int, baseline_mib: int | None) -> None:
        self.gpu = gpu
        self._fd = fd
        self._baseline_mib = baseline_mib
        self._peak_mib: int | None = None
        self._stop = threading.Event()
        self._watch = threading.Thread(target=self._look, name=f"viva gpu {gpu.bus}", daemon=True)
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
            gpus: any of these will do.
            on_wait: called with a line every second or so while others hold them.

        Raises:
            GpuUnavailable: others held them all the time, or memory is still in use; says how much.
        """
        gpu, fd = _lock_one(gpus, on_wait, patience_s)
        try:
            return cls(gpu, fd, _settled(gpu, fd, settle_s))
        except BaseException:
            os.close(fd)
            raise

    @property
    def use(self) -> GpuUse:
        """What was used, and how much of it so far."""
        return GpuUse(self.gpu.name, self.gpu.driver, self.gpu.memory_mib, self._peak_mib)

    def give_back(self, *, settle_s: float = SETTLE_S) -> None:
        """Let others have it, once the memory of the box that has ended is free; may be called again."""
        if self._fd < 0:
            return
        self._stop.set()
        if self._watch.is_alive():
            self._watch.join()
        if self._baseline_mib is not None and _free(self.gpu, self._baseline_mib, settle_s) is None:
            os.ftruncate(self._fd, 0)
        os.close(self._fd)
        self._fd = -1

    def _look(self) -> None:
        """Remember the most memory in use, beyond what was in use before."""
        while not self._stop.wait(_LOOK_S):
            used = used_mib(self.gpu.bus)
            if used is not None and self._baseline_mib is not None:
                self._peak_mib = max(self._peak_mib or 0, used - self._baseline_mib)


def lock_file(gpu: Gpu) -> Path:
    """The file that is locked while somebody has a box on the GPU."""
    folder = _FOLDER if _FOLDER.is_dir() else Path(tempfile.gettempdir())
    return folder / f"viva-gpu-{gpu.bus.replace(':', '-')}.lock"


def _lock_one(gpus: Sequence[Gpu], on_wait: Callable[[str], None], patience_s: float) -> tuple[Gpu, int]:
    """The first of them that nobody holds, and the descriptor that now does."""
    started = told = time.monotonic()
    while True:
        for gpu in gpus:
            fd = _try_lock(lock_file(gpu))
            if fd is not None:
                return gpu, fd
        now = time.monotonic()
        if now - started >= patience_s:
            names = ", ".join(str(lock_file(gpu)) for gpu in gpus)
            raise GpuUnavailable(_IN_USE, f"nobody gave back {names} within {patience_s:g} s")
        if now - told >= 1:
            told = now
            on_wait(f"waiting for {gpus[0].name}, {now - started:.0f} s so far")
        time.sleep(_TRY_S)


def _try_lock(path: Path) -> int | None:
    """A descriptor that holds the lock; None while somebody else's does."""
    import fcntl

    fd = _open(path)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise GpuUnavailable(_IN_USE, f"{path} is no plain file")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _open(path: Path) -> int:
    """The lock's file, made where there is none; every user of the machine may hold it.

    Raises:
        GpuUnavailable: it cannot be opened.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)  # a sticky folder lets nobody open another user's file with O_CREAT
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            os.fchmod(fd, 0o666)
            return fd
        return os.open(path, flags)
    except OSError as error:
        raise GpuUnavailable(_IN_USE, f"{path} cannot be locked: {error.strerror}") from error


def _settled(gpu: Gpu, fd: int, settle_s: float) -> int | None:
    """How much memory is in use before a box comes, kept in the file; None where nothing says it.

    Raises:
        GpuUnavailable: what an earlier box used is not free.
    """
    before = _left_behind(fd)
    if before is not None and (held := _free(gpu, before, settle_s)) is not None:
        raise GpuUnavailable(
            _NOT_FREE,
            f"{gpu.name} ({gpu.bus}) has {held:,} MiB in use, and had {before:,} MiB before the box that was there; "
            f"if that is another program's, end it or empty {lock_file(gpu)}",
        )
    baseline = used_mib(gpu.bus)
    if baseline is not None:
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps({"baseline_mib": baseline, "pid": os.getpid()}).encode(), 0)
    return baseline


def _left_behind(fd: int) -> int | None:
    """What was in use before a box whose memory nobody has seen free again; None where all is well."""
    try:
        found = json.loads(os.pread(fd, 4096, 0) or b"null")
        return int(found["baseline_mib"]) if found is not None else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None  # not written by us: as good as nothing


def _free(gpu: Gpu, baseline_mib: int, settle_s: float) -> int | None:
    """Wait until no more is in use than before; None when it is so (or nothing says it), else what is still in use."""
    deadline = time.monotonic() + settle_s
    while True:
        used = used_mib(gpu.bus)
        if used is None or used <= baseline_mib + TOLERANCE_MIB:
            return None
        if time.monotonic() >= deadline:
            return used
        time.sleep(_LOOK_S)
