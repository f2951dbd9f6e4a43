"""Mounts: recursive read-only binds, small private file systems, and a new root directory."""

from __future__ import annotations

import os
import struct

from . import kernel_calls

RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE, _AT_EMPTY_PATH = -100, 0x8000, 0x1000
_OPEN_TREE_CLONE, _MOVE_EMPTY_SOURCE = 1, 4


def make_private() -> None:
    """Keep all later mounts within this mount namespace."""
    kernel_calls.mount("", "/", "", REC | PRIVATE)


def bind_read_only(source: str, target: str) -> None:
    """Bind `source` with every mount below it to `target`: read-only, no set-uid, no devices."""
    kernel_calls.mount(source, target, "", BIND | REC)
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    kernel_calls.syscall("mount_setattr", _AT_FDCWD, target.encode(), _AT_RECURSIVE, attributes, len(attributes))


def bind_device(source: str, target: str) -> None:
    """Bind one device node; the device works, but its directory entry cannot be changed."""
    kernel_calls.mount(source, target, "", BIND)
    kernel_calls.mount("", target, "", BIND | REMOUNT | RDONLY | NOSUID | NOEXEC)


def small_file_system(target: str, *, size: str, inodes: int, owner: int = 0, mode: str = "700") -> None:
    """Mount a tmpfs with limits on its bytes and its number of files."""
    options = f"size={size},nr_inodes={inodes},mode={mode},uid={owner},gid={owner}"
    kernel_calls.mount("tmpfs", target, "tmpfs", NOSUID | NODEV, options)


def processes(target: str) -> str:
    """Mount a /proc of this pid namespace, or an empty one if the kernel refuses (in a container that masks /proc)."""
    try:
        kernel_calls.mount("proc", target, "proc", NOSUID | NODEV | NOEXEC)
    except OSError:
        kernel_calls.mount("tmpfs", target, "tmpfs", NOSUID | NODEV | NOEXEC | RDONLY, "size=4k,nr_inodes=2")
        return "hidden"
    return "own"


def cover(path: str) -> None:
    """Cover one path so that it cannot be read: an empty read-only directory, or the null device for a file."""
    if os.path.isdir(path):
        kernel_calls.mount("tmpfs", path, "tmpfs", NOSUID | NODEV | NOEXEC | RDONLY, "size=4k,nr_inodes=2,mode=000")
    else:
        kernel_calls.mount("/dev/null", path, "", BIND)


def uncover(path: str) -> None:
    """Unmount what is mounted on a path, in this mount namespace."""
    kernel_calls.umount(path, _DETACH)


def change_root(root: str) -> None:
    """Make `root` (a mount) the root directory, and unmount the old one."""
    os.chdir(root)
    kernel_calls.syscall("pivot_root", b".", b".")
    # The old root is now mounted on top of the new one.
    kernel_calls.umount(".", _DETACH)
    os.chdir("/")


def freeze_root() -> None:
    """Make the root file system read-only."""
    kernel_calls.mount("", "/", "", BIND | REMOUNT | RDONLY | NOSUID | NODEV)


class Lifted:
    """A mount that is held by a descriptor, to be restored after another mount has covered its path."""

    def __init__(self, path: str) -> None:
        self._path = path
        flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
        self._fd = kernel_calls.syscall("open_tree", _AT_FDCWD, path.encode(), flags)
        self._is_directory = os.path.isdir(path)

    def restore(self) -> None:
        """Attach the mount at the same path, which is created in the file system that covers it now."""
        if self._is_directory:
            os.makedirs(self._path, mode=0o755, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(self._path), mode=0o755, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_CLOEXEC, 0o644))
        kernel_calls.syscall("move_mount", self._fd, b"", _AT_FDCWD, self._path.encode(), _MOVE_EMPTY_SOURCE)
        os.close(self._fd)
