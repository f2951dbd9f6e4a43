"""What a command costs: CPU of its whole process tree, wall time, the largest process's memory."""

import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run cost."""

    cpu_s: float
    wall_s: float
    peak_mib: float


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end and say what it and all that it started have cost.

    Raises:
        RuntimeError: it failed; a failed run measures nothing.
    """
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output, _ = process.communicate()
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output.decode()[-3000:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu_s, wall_s, after.ru_maxrss / 1024)
