"""Open the file or folder at a path without ever following a link, step by step and by descriptor.

Nothing can be replaced between check and opening: each step is opened relative to the folder that is already open,
the kernel refuses links, and an open file is checked again through its own descriptor. Where the system cannot open
below an open folder, opening_by_path.py does what is possible.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.model import system
from viva.submissions import opening_by_path

CHUNK: Final = 1 << 20
Folder = int | Path
"""An open folder: its descriptor, or its path where the system opens nothing below a descriptor."""
_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0)
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final = os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC
# Passing through a folder needs no permission to list it.
_THROUGH: Final = getattr(os, "O_PATH", os.O_RDONLY) | _DIRECTORY | _CLOEXEC
# O_NONBLOCK: a FIFO that replaced the file must not block us; it has no effect on regular files.
_FILE: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _CLOEXEC


class NotOpened(Exception):
    """The file or folder at a path was not opened; the text is a phrase such as "is a link"."""


class LinkOnTheWay(NotOpened):
    """A folder on the way to the path is a link; `where` is that folder."""

    def __init__(self, where: str) -> None:
        super().__init__("is a link")
        self.where = where


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file or folder; the code that opened it closes it."""

    descriptor: int
    """The descriptor of an open file."""
    is_folder: bool
    size: int
    identity: tuple[int, int] | None = None
    """Device and inode of a file that has other names (hard links); None if it has no other."""
    folder: Folder = -1
    """The descriptor of a folder, for `opened_at` and `names_in`."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Open a regular file or a folder, following no link in any component.

    Links directly below `/` are the system's own (macOS has /tmp and /var there) and are passed through.

    Raises:
        FileNotFoundError: nothing exists at the path.
        LinkOnTheWay: a folder on the way is a link.
        NotOpened: the last component is a link, a device, a FIFO or a socket, or it cannot be read.
    """
    if not system.OPENS_BELOW_FOLDERS:
        with _opened_by_path(path) as found:
            yield found
        return
    steps = path.parts[1:] if path.is_absolute() else path.parts
    folder = os.open("/" if path.is_absolute() else ".", _THROUGH)
    try:
        for index, step in enumerate(steps[:-1]):
            follow = path.is_absolute() and index == 0
            try:
                inner = os.open(step, _THROUGH if follow else _THROUGH | _NOFOLLOW, dir_fd=folder)
            except OSError as error:
                if is_link(step, folder):
                    raise LinkOnTheWay(str(Path(*path.parts[: index + 1 + path.is_absolute()]))) from None
                if error.errno == errno.ENOTDIR:
                    raise FileNotFoundError(str(path)) from None
                raise _not_opened(error) from None
            os.close(folder)
            folder = inner
        with opened_at(steps[-1] if steps else ".", folder) as found:
            yield found
    finally:
        os.close(folder)


@contextlib.contextmanager
def opened_folder(path: Path) -> Iterator[Folder]:
    """Open a folder that the user named; links are followed. Raises OSError."""
    if not system.OPENS_BELOW_FOLDERS:
        yield path
        return
    descriptor = os.open(path, os.O_RDONLY | _CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def names_in(folder: Folder) -> list[str]:
    """List the names in an open folder, in no order. Raises OSError."""
    return os.listdir(folder)


@contextlib.contextmanager
def opened_at(name: str, folder: Folder) -> Iterator[Opened]:
    """Open a regular file or a folder by its name in an open folder.

    Raises:
        FileNotFoundError: nothing has this name.
        NotOpened: it is something else, or it cannot be read.
    """
    if isinstance(folder, Path):
        with _at_path(folder / name) as found:
            yield found
        return
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        _refuse_special(mode)  # before it is opened: opening a device may have an effect
        descriptor = os.open(name, _FOLDER if stat.S_ISDIR(mode) else _FILE, dir_fd=folder)
    except OSError as error:
        raise _not_opened(error) from None
    try:
        status = os.fstat(descriptor)
        _refuse_special(status.st_mode)
        identity = (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
        yield Opened(descriptor, stat.S_ISDIR(status.st_mode), status.st_size, identity, descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _opened_by_path(path: Path) -> Iterator[Opened]:
    try:
        if where := opening_by_path.first_link(path):
            raise LinkOnTheWay(where)
    except NotADirectoryError:
        raise FileNotFoundError(str(path)) from None
    except OSError as error:
        raise _not_opened(error) from None
    with _at_path(path) as found:
        yield found


@contextlib.contextmanager
def _at_path(path: Path) -> Iterator[Opened]:
    with contextlib.ExitStack() as open_now:
        try:
            status = opening_by_path.looked_at(path)
            _refuse_special(status.st_mode)  # before it is opened: opening a device may have an effect
            if stat.S_ISDIR(status.st_mode):
                os.listdir(path)
                found = Opened(-1, is_folder=True, size=0, folder=path)
            else:
                descriptor, status = open_now.enter_context(opening_by_path.opened_file(path, status))
                _refuse_special(status.st_mode)
                identity = (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
                found = Opened(descriptor, is_folder=False, size=status.st_size, identity=identity)
        except NotADirectoryError:
            raise FileNotFoundError(str(path)) from None
        except OSError as error:
            raise _not_opened(error) from None
        yield found


def read_at_most(descriptor: int, most: int) -> bytes | None:
    """Return the whole file, or None if it is longer than `most` bytes, whatever size the system reported.

    Raises:
        NotOpened: the disk fails.
    """
    parts: list[bytes] = []
    left = most + 1
    while left > 0:
        try:
            part = os.read(descriptor, min(left, CHUNK))
        except OSError as error:
            raise _not_opened(error) from None
        if not part:
            return b"".join(parts)
        parts.append(part)
        left -= len(part)
    return None


def is_link(name: str, folder: int) -> bool:
    """Return whether `name` in an open folder is a symbolic link."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _refuse_special(mode: int) -> None:
    for kind, words in _SPECIAL.items():
        if stat.S_IFMT(mode) == kind:
            raise NotOpened(words)


_SPECIAL: Final = {
    stat.S_IFLNK: "is a link",
    stat.S_IFIFO: "is a named pipe",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


def _not_opened(error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError):
        return error
    return NotOpened(f"cannot be read ({error.strerror or type(error).__name__})")
