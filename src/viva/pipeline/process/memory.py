"""Give the memory that a large answer took back to the system before the next submission comes.

The C library keeps freed memory for itself as long as something above it is still in use, and Python keeps objects
that refer to each other until it collects them. A few hostile answers of hundreds of megabytes would otherwise take
memory for a whole class.
"""

import contextlib
import ctypes
import gc
import os
from pathlib import Path
from typing import Final

MOST_KEPT_BYTES: Final = 16 << 20
"""How much more than it had at rest a process may keep; looking for it costs a hundredth of a second."""
_LITTLE_BYTES: Final = 1 << 20
_STATUS: Final = Path("/proc/self/statm")


class Memory:
    """Remembers how much memory this process needs at rest; does nothing where there is no /proc."""

    def __init__(self) -> None:
        """Begin when everything is loaded: what there is now is never looked through for unused objects."""
        gc.freeze()
        gc.enable()
        self._rested = _resident_bytes()
        self._left = 0
        """What the last attempt could not return to the system."""

    def give_back(self) -> None:
        """Return unused memory to the system, if there is much of it.

        Memory that could not be returned twice is permanently in use, such as libraries that a test has loaded. Once
        does not prove it, because what is kept until the next submission may still hold the last answers.
        """
        if _resident_bytes() <= self._rested + MOST_KEPT_BYTES:
            return
        gc.collect()
        with contextlib.suppress(AttributeError, OSError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)
        resident = _resident_bytes()
        if resident < self._rested or abs(resident - self._left) < _LITTLE_BYTES:
            self._rested = resident
        self._left = resident


def _resident_bytes() -> int:
    try:
        return int(_STATUS.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
