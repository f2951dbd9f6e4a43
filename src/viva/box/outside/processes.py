"""Looking at a box's processes and files from outside, through /proc; everything may vanish while it is looked at."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def pid_of(pidfd: int) -> int:
    """The process behind a pidfd, as this process numbers it; 0 when it has ended."""
    for line in _lines(f"/proc/self/fdinfo/{pidfd}"):
        if line.startswith("Pid:"):
            return max(0, int(line.split()[1]))
    return 0


def family(first: int) -> list[int]:
    """`first` and all its descendants."""
    found, pending = [], [first]
    while pending:
        pid = pending.pop()
        found.append(pid)
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            for line in _lines(f"/proc/{pid}/task/{thread}/children"):
                pending += map(int, line.split())
    return found


def resident_bytes(pids: list[int]) -> int:
    """Sum of resident sizes; shared pages count once for each process, so this is an upper bound."""
    return _PAGE * sum(int(line.split()[1]) for pid in pids for line in _lines(f"/proc/{pid}/statm"))


def proportional_bytes(pids: list[int], user: int | None) -> int:
    """Sum of proportional set sizes: a page shared by n processes counts 1/n for each.

    Args:
        pids: what does not let itself be read counts with its resident size, which is more.
        user: whose files to read as, for a root that may not read those of others (a container's).
    """
    total = 0
    with _as_user(user):
        for pid in pids:
            found = [line for line in _lines(f"/proc/{pid}/smaps_rollup") if line.startswith("Pss:")]
            total += int(found[0].split()[1]) * 1024 if found else resident_bytes([pid])
    return total


@contextlib.contextmanager
def _as_user(user: int | None) -> Iterator[None]:
    """Let this thread, and no other, open files as `user`; nobody can signal or trace it for that."""
    if user is None:
        yield
        return
    libc = ctypes.CDLL(None)
    libc.setfsgid(user)
    libc.setfsuid(user)
    try:
        yield
    finally:
        libc.setfsuid(os.geteuid())
        libc.setfsgid(os.getegid())


def tasks(pids: list[int]) -> int:
    """Processes and threads together."""
    count = 0
    for pid in pids:
        for line in _lines(f"/proc/{pid}/status"):
            if line.startswith("Threads:"):
                count += int(line.split()[1])
    return count


def files_below(folder: str, most: int) -> tuple[int, int]:
    """(bytes on disk, number of entries) below a directory; stops counting at `most` entries."""
    used, count, pending = 0, 0, [folder]
    while pending and count < most:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for entry in entries:
            count += 1
            try:
                used += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
            except OSError:
                continue
    return used, count


def _lines(path: str) -> list[str]:
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []
