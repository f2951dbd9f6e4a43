"""Capture what is written to the descriptors 1 and 2 while a cell runs, by programs that it starts and by C code.

Meanwhile the descriptors refer to files without a name, which are read before any other output is added. So no thread
is needed, and the output of a program keeps its place between what Python prints.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from typing import Any, Callable, List, Optional

_NAMES = ("stdout", "stderr")
_CHUNK = 1 << 16
_MOST = 2 << 20
"""More bytes than the outputs of a cell may have."""
_NO_NAME = getattr(os, "O_TMPFILE", 0)
_dup, _dup2, _close, _pread, _fstat = os.dup, os.dup2, os.close, getattr(os, "pread", None), os.fstat


class _Redirected:
    """One descriptor that refers to a file without a name."""

    def __init__(self, descriptor: int) -> None:
        """Redirect the descriptor.

        Raises:
            OSError: The descriptor does not exist, or no free one is left.
        """
        self._descriptor, self._read = descriptor, 0
        self._decode: Any = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._original = _dup(descriptor)
        try:
            self._file = _appended_file()
            _dup2(self._file, descriptor)
        except OSError:
            _close(self._original)
            raise

    def text(self) -> str:
        """Return what was written since the last call."""
        parts: List[str] = []
        assert _pread is not None  # _appended_file checks it
        data = _pread(self._file, _CHUNK, self._read)
        while data:
            self._read += len(data)
            parts.append(self._decode(data))
            if len(parts) * _CHUNK > _MOST:
                self._read = _fstat(self._file).st_size
            data = _pread(self._file, _CHUNK, self._read)
        return "".join(parts)

    def restore(self) -> None:
        """Restore the original descriptor."""
        _dup2(self._original, self._descriptor)
        _close(self._original)
        _close(self._file)


class DescriptorCapture:
    """Redirects both descriptors from `begin` to `end`; where that fails, they stay unchanged."""

    def __init__(self, add: Callable[[str, str], None]) -> None:
        self._add = add
        self._redirected: List[Optional[_Redirected]] = []

    def begin(self) -> None:
        """Start to capture."""
        for descriptor in (1, 2):
            try:
                self._redirected.append(_Redirected(descriptor))
            except OSError:
                self._redirected.append(None)

    def drain(self) -> None:
        """Add what was written since the last call to the outputs."""
        for name, redirected in zip(_NAMES, self._redirected):
            if redirected is None:
                continue
            try:
                text = redirected.text()
            except OSError:
                continue  # the student's code closed it
            if text:
                self._add(name, text)

    def end(self) -> None:
        """Add the rest, and restore the descriptors."""
        self.drain()
        for redirected in self._redirected:
            try:
                if redirected is not None:
                    redirected.restore()
            except OSError:
                pass  # the student's code closed it
        self._redirected = []


def _appended_file() -> int:
    """Open a file without a name, in append mode for every writer, with the same size limit as any file of the box.

    Raises:
        OSError: This system cannot read a file without moving the position for writers (Windows).
    """
    if _pread is None:
        raise OSError("no file can be read here at a place of its own")
    if _NO_NAME:
        try:
            mode = _NO_NAME | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
            return os.open(tempfile.gettempdir(), mode, 0o600)
        except OSError:
            pass  # not every file system has files without a name
    with tempfile.TemporaryFile(mode="ab", buffering=0) as named:
        return _dup(named.fileno())
