"""What goes to the descriptors 1 and 2 while a cell runs: from programs that it starts, and from C code.

The descriptors stand for files in memory meanwhile, and these are read before anything else is put out. So no thread is
needed, and what a program writes stands where it belongs between what Python prints.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from typing import Any, Callable, List, Optional

_NAMES = ("stdout", "stderr")
_AT_ONCE = 1 << 16
_MOST = 2 << 20
"""More than a cell may put out."""
_dup, _dup2, _close, _pread, _fstat = os.dup, os.dup2, os.close, getattr(os, "pread", None), os.fstat


class _Taken:
    """One descriptor that stands for a file of ours."""

    def __init__(self, descriptor: int) -> None:
        """Take it.

        Raises:
            OSError: there is no such descriptor, or none is left.
        """
        self._descriptor, self._read = descriptor, 0
        self._decode: Any = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._kept = _dup(descriptor)
        try:
            self._file = _file_in_memory()
            _dup2(self._file, descriptor)
        except OSError:
            _close(self._kept)
            raise

    def text(self) -> str:
        """What was written since the last time."""
        parts: List[str] = []
        assert _pread is not None  # else there would be no file
        data = _pread(self._file, _AT_ONCE, self._read)
        while data:
            self._read += len(data)
            parts.append(self._decode(data))
            if len(parts) * _AT_ONCE > _MOST:
                self._read = _fstat(self._file).st_size
            data = _pread(self._file, _AT_ONCE, self._read)
        return "".join(parts)

    def give_back(self) -> None:
        """Let the descriptor be what it was."""
        _dup2(self._kept, self._descriptor)
        _close(self._kept)
        _close(self._file)


class Written:
    """Takes both descriptors from `begin` to `end`; where that fails, they stay what they are."""

    def __init__(self, put_out: Callable[[str, str], None]) -> None:
        self._put_out = put_out
        self._taken: List[Optional[_Taken]] = []

    def begin(self) -> None:
        """From now on."""
        for descriptor in (1, 2):
            try:
                self._taken.append(_Taken(descriptor))
            except OSError:
                self._taken.append(None)

    def drain(self) -> None:
        """Put out what was written since the last time."""
        for name, taken in zip(_NAMES, self._taken):
            if taken is None:
                continue
            try:
                text = taken.text()
            except OSError:
                continue  # the student's code closed it
            if text:
                self._put_out(name, text)

    def end(self) -> None:
        """Put out the rest."""
        self.drain()
        for taken in self._taken:
            try:
                if taken is not None:
                    taken.give_back()
            except OSError:
                pass  # the student's code closed it
        self._taken = []


def _file_in_memory() -> int:
    """Appended to, whoever writes; no larger than any file of the box may become.

    Raises:
        OSError: a file cannot be read here without moving the place where others write (Windows).
    """
    if _pread is None:
        raise OSError("no file can be read here at a place of its own")
    if hasattr(os, "memfd_create"):
        import fcntl

        file = os.memfd_create("printed")
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        return file
    with tempfile.TemporaryFile(mode="ab", buffering=0) as named:
        return _dup(named.fileno())
