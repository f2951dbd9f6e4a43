"""Count what a box keeps where no process shows it: in its folders, in files without a name, in sockets."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.sandbox.host.limits import processes

_OWN_MOUNTS: Final = ("box", "tmp", "dev/shm")
"""The file systems of a box that has its own mounts."""
_IN_MEMORY: Final = "/memfd:"
_DELETED: Final = " (deleted)"
_USUAL_BUFFER: Final = 212_992
"""Linux's default for net.core.wmem_max."""


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """What the descriptors and mappings of a box's processes hold."""

    socket_bytes: int = 0
    """What all sockets can hold at most."""
    memory_bytes: int = 0
    """The size of files that were made in memory (memfd_create)."""
    unnamed_bytes: int = 0
    """The size of files in the folders of the box that have no name any more."""
    hidden: int = 0
    """The number of processes that cannot be inspected: those of programs that may be executed but not read."""


def open_files(pids: Iterable[int], user: int | None, places: tuple[str, ...]) -> OpenFiles:
    """Look at all descriptors and mappings.

    Args:
        pids: the processes of a box.
        user: the user as whom to read, as for `processes.proportional_memory`.
        places: folders whose files without a name count; a library that was replaced has no name either.
    """
    sockets: set[str] = set()
    sizes: dict[str, dict[tuple[int, int], int]] = {"memory": {}, "unnamed": {}}
    hidden = 0
    with processes.as_user(user):
        for pid in pids:
            try:
                descriptors = os.listdir(f"/proc/{pid}/fd")
            except PermissionError:
                hidden += processes.is_running(pid)
                continue
            except OSError:
                continue
            for path in (f"/proc/{pid}/fd/{number}" for number in descriptors):
                with contextlib.suppress(OSError):
                    target = os.readlink(path)
                    if target.startswith("socket:"):
                        sockets.add(target)
                    elif kind := _kind(target, places):
                        status = os.stat(path)
                        sizes[kind][status.st_dev, status.st_ino] = status.st_blocks * 512
            for kind, key, size in _mapped(pid, places):
                sizes[kind][key] = max(sizes[kind].get(key, 0), size)
    memory, unnamed = (sum(each.values()) for each in sizes.values())
    return OpenFiles(len(sockets) * _socket_bytes(), memory, unnamed, hidden)


def mounted_bytes(pids: Iterable[int]) -> int:
    """Return what the own file systems of a box hold, files without a name included; 0 if it has none."""
    for pid in pids:
        root = f"/proc/{pid}/root"
        with contextlib.suppress(OSError):
            if os.stat(f"{root}/dev/shm").st_dev != os.stat(f"{root}/dev").st_dev:  # noqa: S108  # only looked at
                used = [os.statvfs(f"{root}/{folder}") for folder in _OWN_MOUNTS]
                return sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in used)
    return 0


def owned_bytes(user: int, folder: str) -> int:
    """Return the size of what a user owns directly in a folder of all users."""
    total = 0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == user:
                    total += files_below(entry.path, 1000)[0] if entry.is_dir() else status.st_blocks * 512
    return total


def files_below(folder: str, most: int) -> tuple[int, int]:
    """Return (bytes on disk, number of entries) below a directory; stop counting at `most` entries."""
    used, count, pending = 0, 0, [folder]
    while pending and count < most:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for entry in entries:
            count += 1
            try:
                status = entry.stat(follow_symlinks=False)
                used += status.st_blocks * 512 if hasattr(status, "st_blocks") else status.st_size
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
            except OSError:
                continue
    return used, count


def _kind(target: str, places: tuple[str, ...]) -> str:
    """Return what the target of a descriptor or mapping counts as; empty for what can be found by its name."""
    if not target.endswith(_DELETED):
        return ""
    if target.startswith(_IN_MEMORY):
        return "memory"
    return "unnamed" if target.startswith(places) else ""


def _mapped(pid: int, places: tuple[str, ...]) -> Iterator[tuple[str, tuple[int, int], int]]:
    """Yield (kind, device and inode, size) of files without a name that a process maps; it may have closed them."""
    for line in processes.lines_of(f"/proc/{pid}/maps"):
        if line.endswith(_DELETED):
            addresses, _, offset, device, inode, name = line.split(maxsplit=5)
            if kind := _kind(name, places):
                first, last = (int(address, 16) for address in addresses.split("-"))
                major, minor = (int(part, 16) for part in device.split(":"))
                yield kind, (os.makedev(major, minor), int(inode)), int(offset, 16) + last - first


def _socket_bytes() -> int:
    """Return what one socket may hold: the kernel doubles the size that a program asks for."""
    try:
        return 2 * int(Path("/proc/sys/net/core/wmem_max").read_text())
    except (OSError, ValueError):
        return 2 * _USUAL_BUFFER
