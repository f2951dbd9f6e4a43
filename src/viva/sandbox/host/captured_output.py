"""What a box prints on its descriptors: drained so that it never blocks, kept up to a limit, counted beyond it."""

import contextlib
import os
import tempfile
import threading
from typing import Final

from viva.model import system

_CHUNK: Final = 1 << 16
_FLOOD: Final = 200
"""So many times the kept amount ends the box."""


class Output:
    """One pipe's bytes; drained by the fork server's reactor and by whoever asks for them."""

    def __init__(self, fd: int, kept_kib: int, file: str = "") -> None:
        """Args:
        fd: the reading end.
        kept_kib: how much is kept.
        file: the file that stands for a pipe, removed at the end; "" for a pipe.
        """
        if not file:
            os.set_blocking(fd, False)
        self._fd, self._file = fd, file
        self._kept = bytearray()
        self._limit = kept_kib * 1024
        self._seen = 0
        self._lock = threading.Lock()
        self._closed = False

    @property
    def is_pipe(self) -> bool:
        """Whether a selector can wait for it; a file is to be looked at from time to time."""
        return not self._file

    def fileno(self) -> int:
        """For a selector."""
        return self._fd

    def drain(self, most: int = 64) -> bool:
        """Read up to `most` chunks of what is there; False once every writer has gone."""
        with self._lock:
            if self._closed:
                return False
            for _ in range(most):
                try:
                    data = os.read(self._fd, _CHUNK)
                except BlockingIOError:
                    return True
                if not data:
                    return False
                self._seen += len(data)
                self._kept += data[: max(0, self._limit - len(self._kept))]
            return True

    @property
    def flooded(self) -> bool:
        """Whether more has come than any honest program prints."""
        return self._seen > _FLOOD * self._limit

    def bytes(self) -> bytes:
        """The first `kept_kib` of everything printed so far."""
        self.drain()
        with self._lock:
            return bytes(self._kept)

    def close(self) -> None:
        """Close the pipe; what was kept stays readable."""
        with self._lock, contextlib.suppress(OSError):
            if not self._closed:
                self._closed = True
                os.close(self._fd)
                if self._file:
                    os.unlink(self._file)


def channel() -> tuple[int, int, str]:
    """What a box prints into: the reading end, the writing end, and the file that stands for a pipe or "".

    Windows can neither wait for a pipe nor read one without blocking; a file is read as far as it goes.
    """
    if system.INHERITS_DESCRIPTORS:
        return *os.pipe(), ""
    writing, path = tempfile.mkstemp(prefix="viva-printed-")
    return os.open(path, os.O_RDONLY | system.AS_BYTES), writing, path
