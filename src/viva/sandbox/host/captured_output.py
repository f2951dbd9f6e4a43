"""What a box prints to its descriptors: drained so that the box never blocks, kept up to a limit, counted beyond."""

import contextlib
import os
import tempfile
import threading
from typing import Final

from viva.sandbox import system

_CHUNK: Final = 1 << 16
_FLOOD: Final = 200
"""A box that prints more than this many times the kept amount is ended."""


class CapturedOutput:
    """The bytes of one pipe; the fork server's reactor drains it, and so does everyone who reads it."""

    def __init__(self, fd: int, kept_kib: int, file: str = "") -> None:
        """Take over the reading end of a channel.

        Args:
            fd: the reading end.
            kept_kib: how much is kept, in KiB.
            file: the path of the file that is used instead of a pipe, removed by `close`; "" for a pipe.
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
        """Return whether a selector can wait for it; a file has to be polled."""
        return not self._file

    def fileno(self) -> int:
        """Return the descriptor, for a selector."""
        return self._fd

    def drain(self, most: int = 64) -> bool:
        """Read up to `most` chunks of the available output; return False once every writer has gone."""
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
        """Return whether the box has printed more than any honest program prints."""
        return self._seen > _FLOOD * self._limit

    def bytes(self) -> bytes:
        """Return the first `kept_kib` of everything printed so far."""
        self.drain()
        with self._lock:
            return bytes(self._kept)

    def close(self) -> None:
        """Close the pipe or file; the kept output stays readable."""
        with self._lock, contextlib.suppress(OSError):
            if not self._closed:
                self._closed = True
                os.close(self._fd)
                if self._file:
                    os.unlink(self._file)


def channel() -> tuple[int, int, str]:
    """Open what a box prints into; return the reading end, the writing end, and the path of a file or "".

    Windows can neither wait for a pipe nor read one without blocking, so it gets a file; other systems get a pipe.
    """
    if system.INHERITS_DESCRIPTORS:
        return *os.pipe(), ""
    writing, path = tempfile.mkstemp(prefix="viva-printed-")
    return os.open(path, os.O_RDONLY | system.AS_BYTES), writing, path
