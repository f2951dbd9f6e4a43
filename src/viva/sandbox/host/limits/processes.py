"""Looking at a box's processes and files from outside, through /proc; everything may vanish while it is looked at."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Final

_HELD: Final = ("RssAnon:", "RssShmem:", "VmSwap:")
_PROPORTIONAL: Final = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
_BEFORE_LINUX_5_4: Final = ("Pss:", "SwapPss:")


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


def held_bytes(pids: list[int]) -> int:
    """Memory of no file, resident or swapped; shared pages count once for each process, so this is an upper bound."""
    return sum(_sum_kib(_lines(f"/proc/{pid}/status"), _HELD) for pid in pids) * 1024


def proportional_bytes(pids: list[int], user: int | None) -> int:
    """The same with every page that n processes share counted as 1/n for each: what the family really holds.

    Args:
        pids: what does not let itself be read counts with `held_bytes`, which is more.
        user: whose files to read as, for a root that may not read those of others (a container's).
    """
    total = 0
    with _as_user(user):
        for pid in pids:
            lines = _lines(f"/proc/{pid}/smaps_rollup")
            names = _PROPORTIONAL if any(line.startswith("Pss_Anon:") for line in lines) else _BEFORE_LINUX_5_4
            total += _sum_kib(lines, names) * 1024 if lines else held_bytes([pid])
    return total


def _sum_kib(lines: list[str], names: tuple[str, ...]) -> int:
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))


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
                status = entry.stat(follow_symlinks=False)
                used += status.st_blocks * 512 if hasattr(status, "st_blocks") else status.st_size
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
