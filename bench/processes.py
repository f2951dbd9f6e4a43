"""What running processes have used so far, from /proc."""

import os
from collections.abc import Iterable
from pathlib import Path


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes and of their children that have ended; nothing for one that is gone."""
    ticks = 0
    for pid in pids:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Return how much memory a process has now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


def with_children(pid: int) -> list[int]:
    """Return a process and the children that it has now."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def loopback_bytes() -> int:
    """Return how many bytes were sent over the loopback interface of this network namespace."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return int(next(line for line in lines if line.lstrip().startswith("lo:")).split(":")[1].split()[0])
