"""Measure what a command costs: CPU of its whole process tree, wall time, the largest process's memory.

What a process has used is added to its parent's account only when the parent waits for it, and no one waits for the
processes of a box that is ended with its namespace. So the kernel's account of a control group is read, where one can
be made; elsewhere (not root, macOS) the boxes are missing from the figures, and `COUNTS_BOXES` says so.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
GROUPS = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))
"""Where control groups are made: version 1 with its accounts, version 2."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    """The peak of the largest process; never below that of this process, which the kernel passes on to its children."""
    output: str = ""


def run(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, statuses: Sequence[int] = (0,)
) -> Cost:
    """Run a command to its end; return what it and all that it started have cost.

    Args:
        command: the program and its arguments.
        cwd: the working directory.
        env: variables to add to this process's own.
        statuses: the exit statuses that mean success.

    Raises:
        RuntimeError: it failed; a failed run measures nothing.
    """
    started = time.perf_counter()
    with _group() as group:
        process = subprocess.Popen(
            command if group is None else ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None  # it is a pipe
        with process.stdout as pipe:
            output = pipe.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - started
        cpu_s = usage.ru_utime + usage.ru_stime if group is None else _used_s(group)
    if process.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output[-3000:]}")
    return Cost(cpu_s, wall_s, usage.ru_maxrss / 1024, output)


@contextlib.contextmanager
def accounted() -> Iterator[Callable[[], float]]:
    """Account for this process and all that it starts; yield a function for the CPU seconds used so far."""
    with _group() as group:
        if group is None:
            yield lambda: sum(os.times()[:4])
            return
        home = Path(f"{group.parent}{_own_path(group.parent)}", "cgroup.procs")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield lambda: _used_s(group)
        finally:
            home.write_text(str(os.getpid()))


def _own_path(hierarchy: Path) -> str:
    """Return the control group of this process in a hierarchy, as a path from its root."""
    wanted = "cpuacct" if hierarchy.name == "cpuacct" else ""  # version 2 names no controller
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return next(path for _, controllers, path in lines if wanted in controllers.split(","))


@contextlib.contextmanager
def _group() -> Iterator[Path | None]:
    """Yield a new control group that accounts for CPU; None if it cannot be made."""
    group = next((g for parent in GROUPS if (g := _made(parent / f"viva-bench-{os.getpid()}")) is not None), None)
    try:
        yield group
    finally:
        for _ in range(100 if group else 0):
            with contextlib.suppress(OSError):  # its last processes are still ending
                group.rmdir()  # type: ignore[union-attr]  # there is one, or no turn
                break
            time.sleep(0.05)


def _made(group: Path) -> Path | None:
    try:
        group.mkdir()
        _used_s(group)
    except OSError:
        with contextlib.suppress(OSError):
            group.rmdir()
        return None
    return group


def _used_s(group: Path) -> float:
    """Return the CPU seconds of all processes that were ever in the group."""
    if (account := group / "cpuacct.usage").exists():
        return int(account.read_text()) / 1e9
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6


with _group() as _trial:
    COUNTS_BOXES = _trial is not None
