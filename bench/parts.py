"""Measure the parts of the engine: a box alone (the minimum), a call, an array, memory, a start, a second worker."""

import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.against import viva
from bench.measure import BIN, accounted, run
from bench.small_course import name_of, source_of, write
from bench.snapshot import rollup_mib
from viva.model import Limits, Tier
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.limits import processes

_ASK_S = 60.0
_CALLS = 13
"""The number of calls in the small assignment."""
_BOXES = 15
_CLASS = 120
"""Submissions in the class that is graded by one worker and by two."""


def table(rounds: int) -> None:
    """Measure and print one line for each figure, with its target."""
    print(f"\nParts, in tier T3; load {os.getloadavg()[0]:.1f}. Medians.\n")
    print("| part | measured | to reach |\n|---|---|---|", flush=True)
    for preload in ("numpy", "torch"):
        _boxes(preload)
    _check_cold(rounds)
    _two_workers(rounds)


def _row(part: str, measured: str, reach: str = "") -> None:
    print(f"| {part} | {measured} | {reach} |", flush=True)


def _boxes(preload: str) -> None:
    source = source_of(0, torch=preload == "torch").encode()
    with accounted() as used_s, ForkServer.start(Tier.T3, preload=[preload]) as fork_server:
        for _ in range(2):
            _life(fork_server, source)
        before, ready = used_s(), []
        for _ in range(_BOXES):
            ready.append(_life(fork_server, source))
        cpu_ms = (used_s() - before) / _BOXES * 1e3
        _row(f"floor with {preload}: fork, lock, load, {_CALLS} calls, tear down: CPU", f"{cpu_ms:.1f} ms")
        reach = "20 ms" if preload == "torch" else "12 ms"
        _row(f"box ready, {preload} warm: wall", f"{statistics.median(ready) * 1e3:.1f} ms", reach)
        if preload == "numpy":
            _calls(fork_server, source)
            _calls_on_one_core(source)
        with fork_server.spawn(Limits()) as box:
            _load(box, source)
            private = _private_mib(box)
        _row(f"private memory of a box, {preload}", f"{private:.1f} MiB", "6 MB")


def _life(fork_server: ForkServer, source: bytes) -> float:
    """Make and end a box as the examiner does; return the seconds until the box had said hello."""
    x, started = np.ones((4, 5)), time.perf_counter()
    with fork_server.spawn(Limits()) as box:
        ready_s = time.perf_counter() - started
        _load(box, source)
        for _ in range(_CALLS):
            box.ask("call", timeout_s=_ASK_S, space="student", name="softmax", args=[x], kwargs={})
    return ready_s


def _load(box: Box, source: bytes) -> None:
    box.ask("put", timeout_s=_ASK_S, path="solution.py", data=source)
    box.ask("load_module", timeout_s=_ASK_S, path="solution.py", mode="run", forbid=[], device="")


def _calls_on_one_core(source: bytes) -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with ForkServer.start(Tier.T3, preload=["numpy"]) as fork_server:
            _calls(fork_server, source, alone=True)
    finally:
        os.sched_setaffinity(0, allowed)


def _calls(fork_server: ForkServer, source: bytes, *, alone: bool = False) -> None:
    """Measure what a question costs; `alone`: on one core, as in a class that is graded on all cores."""
    on = "on a worker's own core" if alone else "where the box wakes on another core"
    with fork_server.spawn(Limits()) as box:
        _load(box, source + b"\n\ndef echo(x):\n    return x\n")

        def echo(value: object) -> Callable[[], object]:
            question = {"space": "student", "name": "echo", "args": [value], "kwargs": {}}
            return lambda: box.ask("call", timeout_s=_ASK_S, **question)

        _row(f"null call, {on}: wall", f"{_median_ms(echo(None), 300):.3f} ms", "0.1 ms" if alone else "")
        if alone:
            return
        array = np.random.default_rng(0).normal(size=10 * 1000 * 1000 // 8)
        _row("10 MB array both ways: wall", f"{_median_ms(echo(array), 15):.1f} ms", "25 ms")
    ours, theirs = socket.socketpair()
    with ours, theirs:

        def pass_on() -> None:
            ours.sendall(b"x")
            theirs.recv(1)

        _row("(a byte through a socket within one process: wall)", f"{_median_ms(pass_on, 300):.3f} ms")


def _median_ms(do: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1e3


def _private_mib(box: Box) -> float:
    """Return the memory pages that no other process shares, of all processes of the box."""
    return rollup_mib(processes.family(box.resources.first), "Private_Dirty:", "Private_Clean:")


def _check_cold(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        write(folder, size=1, torch=False)
        command = [str(BIN / "viva"), "check", "--course", "course", f"modules/{name_of(0)}"]
        run(command, cwd=folder)
        costs = [run(command, cwd=folder) for _ in range(2 * rounds)]
    wall, cpu = (statistics.median(getattr(cost, what) for cost in costs) for what in ("wall_s", "cpu_s"))
    least = min(cost.wall_s for cost in costs)
    _row(f"`viva check`, cold: wall (CPU {cpu:.2f} s, least wall {least:.2f} s)", f"{wall:.2f} s", "1 s")


def _two_workers(rounds: int) -> None:
    """Measure one worker that prepares boxes on a second core while it asks, if there is one, and on one core."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        _row("two workers against one", "not measured: one core")
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        write(folder, size=_CLASS, torch=False)
        viva(folder, "modules", 2)
        alone, one, two = [], [], []
        for _ in range(2 * rounds):
            alone.append(_more(folder, 1, cores[:1]))
            one.append(_more(folder, 1, cores[:2]))
            two.append(_more(folder, 2, cores[:2]))
    least = statistics.median(two)
    _row("two workers on two cores against one on one: submissions per second", _times(alone, least), "1.8 ×")
    _row("two workers against one that may use both cores", _times(one, least))


def _times(seconds: list[float], least: float) -> str:
    return f"{statistics.median(seconds) / least:.2f} ×"


def _more(folder: Path, workers: int, cores: list[int]) -> float:
    """Return the wall seconds of a class beyond its first 20 submissions, on these cores alone."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        return viva(folder, "modules", _CLASS, workers).wall_s - viva(folder, "modules", 20, workers).wall_s
    finally:
        os.sched_setaffinity(0, allowed)
