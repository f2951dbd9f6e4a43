"""`make bench-cluster`: where a cluster of 50 workers reaches its limit, with stand-ins for the workers.

A real scheduler and a real `viva grade --on tcp://…` on this machine, real messages over loopback; the workers wait for
as long as grading took, and return scores that were recorded. From the CPU that each part takes for a task follows how
many tasks a second it could pass on with a core of its own; `docs/scale.md` says what follows from that.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgpack

from bench import postgres_server
from bench.cluster_model import Cluster, TaskCost, tasks_per_s
from bench.measure import BIN, run
from bench.processes import cpu_s, loopback_bytes, resident_mib, with_children
from bench.records_rate import measure_rates, recorded
from bench.small_course import name_of, write

ROOT = Path(__file__).parents[1]
ALONE = "VIVA_BENCH_ALONE"
"""Set in a network namespace of this measurement's own, where loopback carries nothing else."""
SAMPLE = 40
"""Submissions that are graded for their times, scores and call logs."""
WORKERS_OF_A_PROCESS = 10
IDLE_S = 5.0
BASELINE = 100
"""The size of the class whose cost is subtracted: start, reading, the table at the end."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A cluster."""

    workers: int
    threads: int
    task_s: float | None
    """None for as long as grading took."""
    keeps: str = "sqlite"
    """Where scores are kept: "sqlite", "postgresql", or nowhere."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one setting."""

    per_s: float
    cost: TaskCost
    scheduler_mib: float
    scheduler_idle: float
    """How much of a core the scheduler takes without a task, in percent."""


FULL = Setting(50, 8, 0.0)
"""The workers are never the limit here: what a task costs is taken from it, and all other settings are predicted."""
SETTINGS = [
    FULL,
    Setting(50, 1, 2.0),
    Setting(10, 1, 0.5),
    Setting(50, 1, None),
    Setting(100, 8, 0.5),
    Setting(50, 8, 0.0, "nowhere"),
    Setting(50, 8, 0.0, "postgresql"),
]


def main() -> None:
    """Print what a task costs in each setting."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--count", type=int, default=1100, help="submissions of the class")
    options = parser.parse_args()
    if os.geteuid() == 0 and not os.environ.get(ALONE) and shutil.which("unshare"):
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-m"]
        os.execvpe("unshare", [*command, "bench.cluster", *sys.argv[1:]], {**os.environ, ALONE: "1"})
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}.\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as name, postgres_server.server() as url:
        folder = Path(name)
        write(folder, size=options.count, torch=False, notebooks=False)
        sample = [f"modules/{name_of(n)}" for n in range(SAMPLE)]
        run([str(BIN / "viva"), "grade", "--course", "course", "--workers", "1", *_kept(folder, "sample"), *sample],
            cwd=folder)  # fmt: skip
        rows = recorded(f"sqlite:///{folder}/sample.db", folder / "course")
        (folder / "recorded").write_bytes(msgpack.packb(rows))
        seconds = sorted(row[0] for row in rows)
        print(f"Graded here: {SAMPLE} submissions, {seconds[len(seconds) // 2]:.3f} s in the median.\n")
        measure_rates(folder, rows, url)
        _head()
        cost = None
        for setting in SETTINGS:
            if url is None and setting.keeps == "postgresql":
                continue
            found = measure(folder, setting, options.count, url)
            cost = cost or found.cost
            _row(setting, found, _predicted(setting, cost, seconds[len(seconds) // 2]))


def measure(folder: Path, setting: Setting, count: int, url: str | None) -> Measured:
    """Grade two classes on a cluster, and return what one more task of the larger one cost."""
    with _cluster(folder, setting) as (address, scheduler, workers):
        idle = _idle(scheduler, workers)
        small = _run(folder, setting, address, BASELINE, url, scheduler, workers)
        large = _run(folder, setting, address, count, url, scheduler, workers)
        memory = resident_mib(scheduler)
    more = {what: (large[what] - small[what]) / (count - BASELINE) for what in large}
    client_ms, scheduler_ms, database_ms, workers_ms = (
        1e3 * (more[part] - idle.get(part, 0.0) * more["wall_s"])
        for part in ("client_s", "scheduler_s", "database_s", "workers_s")
    )
    cost = TaskCost(client_ms, scheduler_ms, database_ms, workers_ms, more["bytes"] / 1024)
    return Measured(rate(written_at(folder)), cost, memory, 100 * idle["scheduler_s"])


def written_at(folder: Path) -> list[float]:
    """Return when each result was last written, which is at the end of its task."""
    return [path.stat().st_mtime for path in (folder / "results").rglob("results.json")]


def rate(moments: list[float]) -> float:
    """Return how many came each second, without the first and the last tenth: the start, and workers that are idle."""
    moments = sorted(moments)
    tenth = len(moments) // 10
    middle = moments[tenth : len(moments) - tenth]
    return (len(middle) - 1) / (middle[-1] - middle[0])


def _idle(scheduler: int, workers: list[int]) -> dict[str, float]:
    """Return how much of a core scheduler and workers take without a task: for heartbeats, so not for a task."""
    before = cpu_s([scheduler]), cpu_s(workers)
    time.sleep(IDLE_S)
    return {
        "scheduler_s": (cpu_s([scheduler]) - before[0]) / IDLE_S,
        "workers_s": (cpu_s(workers) - before[1]) / IDLE_S,
    }


def _run(
    folder: Path,
    setting: Setting,
    address: str,
    count: int,
    url: str | None,
    scheduler: int,
    workers: list[int],
) -> dict[str, float]:
    """Grade a class and return what all of it took."""
    for left in folder.glob("run.db*"):
        left.unlink()
    shutil.rmtree(folder / "results", ignore_errors=True)
    where = _kept(folder, "run") if setting.keeps == "sqlite" else ("--no-records",)
    if setting.keeps == "postgresql":
        where = ("--records", url or "", "--again")
    paths = [f"modules/{name_of(n)}" for n in range(count)]
    server = None if url is None else postgres_server.pid(url)

    def used() -> tuple[float, ...]:
        of_server = 0.0 if server is None else cpu_s(with_children(server))
        return cpu_s([scheduler]), cpu_s(workers), of_server, loopback_bytes()

    before = used()
    cost = run([str(BIN / "viva"), "grade", "--course", "course", "--on", address, *where, "-o", "results", *paths],
               cwd=folder)  # fmt: skip
    if len([*(folder / "results").rglob("results.json")]) != count:
        raise SystemExit(f"not every submission has a result:\n{cost.output[-2000:]}")
    scheduler_s, workers_s, database_s, sent = (now - then for now, then in zip(used(), before, strict=True))
    return {"wall_s": cost.wall_s, "client_s": cost.cpu_s, "scheduler_s": scheduler_s, "workers_s": workers_s,
            "database_s": database_s, "bytes": sent}  # fmt: skip


@contextlib.contextmanager
def _cluster(folder: Path, setting: Setting) -> Iterator[tuple[str, int, list[int]]]:
    """Start a scheduler and stand-ins for its workers."""
    with contextlib.ExitStack() as stack:
        file = folder / "scheduler.json"
        file.unlink(missing_ok=True)
        scheduler = _start(stack, [str(BIN / "dask"), "scheduler", "--host", "127.0.0.1", "--port", "0",
                                   "--no-dashboard", "--scheduler-file", str(file)], folder)  # fmt: skip
        address = _address_in(file)
        more = [] if setting.task_s is None else ["--task-s", str(setting.task_s)]
        counts = [
            min(WORKERS_OF_A_PROCESS, setting.workers - n) for n in range(0, setting.workers, WORKERS_OF_A_PROCESS)
        ]
        workers = [
            _start(stack, [sys.executable, "-m", "bench.stand_in_workers", address, "recorded", "--workers", str(n),
                           "--threads", str(setting.threads), *more], folder)
            for n in counts
        ]  # fmt: skip
        _wait_for_workers(address, setting.workers)
        yield address, scheduler, workers


def _start(stack: contextlib.ExitStack, command: list[str], folder: Path) -> int:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    log = stack.enter_context((folder / f"{Path(command[0]).name}.log").open("ab"))
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)

    def end() -> None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)
    return process.pid


def _address_in(file: Path) -> str:
    from json import JSONDecodeError, loads

    while True:
        with contextlib.suppress(FileNotFoundError, JSONDecodeError):
            return str(loads(file.read_text())["address"])
        time.sleep(0.05)


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=300)


def _kept(folder: Path, name: str) -> tuple[str, ...]:
    return ("--records", f"sqlite:///{folder}/{name}.db")


def _predicted(setting: Setting, cost: TaskCost, graded_s: float) -> str:
    """Return how many tasks a second the model expects, and why; nothing where scores are kept elsewhere."""
    if setting is FULL or setting.keeps != FULL.keeps:
        return ""
    task_s = graded_s if setting.task_s is None else setting.task_s
    per_s, part = tasks_per_s(Cluster(setting.workers, setting.threads, task_s), cost, os.cpu_count())
    return f"{per_s:.0f} ({part})"


def _head() -> None:
    columns = ("workers × threads", "a task", "kept", "tasks/s", "predicted", "client", "scheduler", "database",
               "stand-ins", "wire", "scheduler's memory", "scheduler idle")  # fmt: skip
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)


def _row(setting: Setting, found: Measured, predicted: str) -> None:
    cost = found.cost
    cells = [
        f"{setting.workers} × {setting.threads}",
        "as graded" if setting.task_s is None else f"{setting.task_s:g} s",
        setting.keeps,
        f"{found.per_s:.1f}",
        predicted,
        *(f"{ms:.1f} ms" for ms in (cost.client_ms, cost.scheduler_ms, cost.database_ms, cost.workers_ms)),
        f"{cost.kib:.1f} KiB",
        f"{found.scheduler_mib:.0f} MiB",
        f"{found.scheduler_idle:.1f} %",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
