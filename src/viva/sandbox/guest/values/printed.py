"""Capture what an operation prints, up to a cap."""

from __future__ import annotations

import io
import sys
from typing import Any

LIMIT = 1 << 18
"""Bytes of printed text that a reply carries."""


class _Kept(io.RawIOBase):
    """A stream that keeps the first `LIMIT` bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.cut = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1  # for programs that write to the descriptor themselves

    def write(self, data: Any) -> int:
        view = memoryview(data)
        left = LIMIT - len(self.data)
        self.data += view[:left]
        self.cut = self.cut or len(view) > left
        return len(view)


class Printed:
    """A context that captures sys.stdout; the replacement has everything of a standard stream, also `.buffer`."""

    def __enter__(self) -> Printed:
        self._kept = _Kept()
        self._before = sys.stdout
        self._stream = io.TextIOWrapper(
            io.BufferedWriter(self._kept), encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True
        )
        sys.stdout = self._stream
        return self

    def __exit__(self, *_error: object) -> None:
        if sys.stdout is self._stream:
            sys.stdout = self._before
        try:
            self._stream.flush()
        except ValueError:
            pass  # the student's code closed it; earlier output is kept

    def text(self) -> str:
        """Return what was printed, with a note if it was cut."""
        text = self._kept.data.decode("utf-8", "replace")
        return f"{text}\n[cut after {LIMIT >> 10} KiB]" if self._kept.cut else text
