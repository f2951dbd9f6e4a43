"""Read about a box's processes and files from outside, through /proc; everything may vanish while it is read."""

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from viva.sandbox.guest.process.counted_time import CountedTime, waited_s

_HELD: Final = ("RssAnon:", "RssShmem:", "VmSwap:")
_PRIVATE: Final = ("Pss_Anon:", "SwapPss:")
_SHARED: Final = ("Pss_Shmem:",)
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_READ_BYTES: Final = 1 << 14
_BEFORE_LINUX_5_4: Final = ("Pss:", "SwapPss:")


def pid_of(pidfd: int) -> int:
    """Return the pid behind a pidfd, as this process sees it; 0 when the process has ended."""
    for line in lines_of(f"/proc/self/fdinfo/{pidfd}"):
        if line.startswith("Pid:"):
            return max(0, int(line.split()[1]))
    return 0


def family(first: int) -> list[int]:
    """Return `first` and all its descendants."""
    found, pending = [], [first]
    while pending:
        pid = pending.pop()
        found.append(pid)
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            for line in lines_of(f"/proc/{pid}/task/{thread}/children"):
                pending += map(int, line.split())
    return found


def clock_of(first: Callable[[], int], wall_s: Callable[[], float]) -> CountedTime:
    """Return a clock of counted time for a tree of processes.

    Args:
        first: returns the pid of the first process; 0 when it has ended.
        wall_s: the seconds that can count at most.
    """
    pids: list[int] = []

    def computed_s() -> float:
        pids[:] = family(pid) if (pid := first()) else []
        return sum(map(_processor_s, pids))

    def waiting_s() -> float | None:
        known = [seconds for pid in pids if (seconds := waited_s(pid)) is not None]
        return sum(known) if known else None

    return CountedTime(computed_s, waiting_s, wall_s=wall_s)


def _processor_s(pid: int) -> float:
    """Return the processor seconds of a process, and of its children that have ended; 0.0 if it has ended itself."""
    after_name = _text_of(f"/proc/{pid}/stat").rpartition(")")[2]  # a name may hold brackets and line feeds
    return sum(map(int, after_name.split()[11:15])) / _TICKS


def held_bytes(pids: list[int]) -> int:
    """Sum up memory that is not file-backed, resident or swapped.

    A shared page counts once for each process, so this is an upper bound.
    """
    return sum(_sum_kib(lines_of(f"/proc/{pid}/status"), _HELD) for pid in pids) * 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that is not backed by a file on a disk, in bytes; a page that n processes share counts once."""

    private: int
    shared: int
    """Shared mappings, files in memory among them."""

    @property
    def total(self) -> int:
        """Return both together."""
        return self.private + self.shared


def proportional_memory(pids: list[int], user: int | None) -> Memory:
    """Sum up the same memory, but count a page that n processes share as 1/n for each: the true total.

    Args:
        pids: the processes; one whose file cannot be read counts with `held_bytes`, which is more.
        user: the user as whom to read, for a root (of a container) that may not read files of others; None for none.
    """
    private = shared = 0
    with as_user(user):
        for pid in pids:
            lines = lines_of(f"/proc/{pid}/smaps_rollup")
            known = any(line.startswith("Pss_Anon:") for line in lines)
            private += _sum_kib(lines, _PRIVATE if known else _BEFORE_LINUX_5_4) * 1024 if lines else held_bytes([pid])
            shared += _sum_kib(lines, _SHARED) * 1024
    return Memory(private, shared)


def _sum_kib(lines: list[str], names: tuple[str, ...]) -> int:
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))


@contextlib.contextmanager
def as_user(user: int | None) -> Iterator[None]:
    """Let this thread alone open files as `user`; `user` cannot signal or trace it for that."""
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
    """Count the threads of all these processes, main threads included."""
    count = 0
    for pid in pids:
        for line in lines_of(f"/proc/{pid}/status"):
            if line.startswith("Threads:"):
                count += int(line.split()[1])
    return count


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended; one that has is only waited for."""
    return any(
        line.startswith("State:") and "Z" not in line and "X" not in line for line in lines_of(f"/proc/{pid}/status")
    )


def lines_of(path: str) -> list[str]:
    """Return the lines of a file; none if it cannot be read.

    Only line feeds end a line: the kernel replaces no other character in the names that a program gives itself and its
    files, so these could otherwise add lines.
    """
    text = _text_of(path)
    return text.removesuffix("\n").split("\n") if text else []


def _text_of(path: str) -> str:
    try:
        file = os.open(path, os.O_RDONLY)  # `open` takes three times as long
    except OSError:
        return ""
    try:
        parts = list(iter(lambda: os.read(file, _READ_BYTES), b""))
    except OSError:
        return ""
    finally:
        os.close(file)
    return b"".join(parts).decode(errors="replace")
