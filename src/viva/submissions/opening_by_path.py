"""Open the file or folder at a path without following a link, where no folder can be kept open: Windows.

Each component is checked before it is passed, and an open file is compared with the one that was checked. Between the
two, a program that runs as the same user could still replace a folder; by descriptor (opening_by_descriptor.py) no
program can. A junction counts as a link; a file that a cloud service stores elsewhere does not.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from viva.model import system

_ELSEWHERE: Final = 0x20000000
"""In a reparse tag: it represents another name, as links and junctions do (IsReparseTagNameSurrogate)."""
_FILE: Final = os.O_RDONLY | system.AS_BYTES | system.NO_LINK | system.NOT_INHERITED | getattr(os, "O_NONBLOCK", 0)


class Exchanged(OSError):
    """The file that was opened is not the one that was checked."""

    def __init__(self) -> None:
        super().__init__(0, "something else took its place")


def first_link(path: Path) -> str:
    """Return the first folder on the way to `path` that is a link, or ""; the last component is not checked.

    As by descriptor, links directly below the root are the system's own and are passed through.

    Raises:
        OSError: a folder on the way does not exist, or cannot be checked.
    """
    steps = path.parts[1:] if path.is_absolute() else path.parts
    here = Path(path.anchor) if path.is_absolute() else Path()
    for index, step in enumerate(steps[:-1]):
        here = here / step
        status = os.lstat(here)
        if path.is_absolute() and index == 0:
            status = os.stat(here)
        if is_link(status):
            return str(here)
        if not stat.S_ISDIR(status.st_mode):
            raise FileNotFoundError(str(path))
    return ""


@contextlib.contextmanager
def opened_file(path: Path, before: os.stat_result) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file that was already checked; yield its descriptor and its present status.

    Raises:
        OSError: it cannot be opened, or something else has replaced it.
    """
    descriptor = os.open(path, _FILE)
    try:
        status = os.fstat(descriptor)
        if status.st_ino and before.st_ino and status.st_ino != before.st_ino:  # 0: this file system has no numbers
            raise Exchanged
        yield descriptor, status
    finally:
        os.close(descriptor)


def is_link(status: os.stat_result) -> bool:
    """Return whether it represents another name: a symbolic link, or on Windows a junction."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0) & _ELSEWHERE)


def looked_at(path: Path, stat_of: Callable[[Path], os.stat_result] = os.lstat) -> os.stat_result:
    """Return its status, with a junction shown as the link that it is."""
    status = stat_of(path)
    if is_link(status) and not stat.S_ISLNK(status.st_mode):
        return os.stat_result((stat.S_IFLNK, *status[1:]))
    return status
