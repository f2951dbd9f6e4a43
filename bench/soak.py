"""`make soak`: thousands of submissions, one in ten hostile, by one examiner; nothing may be left over or grow.

Hostile ones are programs of tests/hostile/programs, asked with short limits. Prints a short report, writes the figures
to results/soak.json, and ends with status 1 where something leaked, a score was wrong or honest submissions became
dearer.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import snapshot
from bench.measure import accounted
from bench.snapshot import Snapshot
from viva.config import load_course
from viva.model import Score, Submission, Tier
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.guest.lockdown import kernel_calls
from viva.sandbox.host.limits import processes
from viva.submissions import open_submission

HOSTILE_TESTS: Final = Path(__file__).parents[1] / "tests" / "hostile"
RESULT: Final = Path(__file__).parents[1] / "results/soak.json"
EVERY: Final = 10
"""One submission in this many is hostile, and a snapshot is taken as often."""
WARM: Final = 50
"""Submissions before CPU is compared. What is held is compared once each hostile program has been graded: the largest
answers decide what an allocator keeps for the next."""
WINDOW: Final = 100
HOSTILE_CALL_S: Final = 0.3
GROWTH_MIB: Final = 20.0
"""What all processes that stay may grow together."""
MAX_COST_RATIO: Final = 1.10
_PATIENT_LIMITS: Final = {"load_s: 1": "load_s: 3", "call_s: 0.5": "call_s: 3", "test_s: 3": "test_s: 6"}
"""An honest submission must keep them on a busy machine as well."""
_STAYING: Final = 4
"""This process, the examiner, its fork server's supervisor, the fork server: what does not change with boxes."""
_YARDSTICK: Final = bytes(1 << 16)


def leaks(snapshots: Sequence[Snapshot], cost_ratio: float, left: Sequence[str]) -> list[str]:
    """Return a sentence for everything that grew, or was left after the end.

    Args:
        snapshots: taken at regular intervals, after warming up.
        cost_ratio: CPU of an honest submission in the last window, as a multiple of the first.
        left: what was left at the end.
    """
    share = max(1, min(WINDOW // EVERY, len(snapshots) // 2))
    first, last = snapshots[:share], snapshots[-share:]
    found = []
    for name in ("descriptors", "processes", "cgroups", "mounts", "files"):
        # Ready boxes come and go between snapshots: the smallest of several figures is what stays.
        before, after = (min(getattr(s, name) for s in some) for some in (first, last))
        if after > before:
            found.append(f"{name}: {before} at first, {after} in the end")
    grown = min(s.memory_mib for s in last) - min(s.memory_mib for s in first)
    if grown > GROWTH_MIB:
        found.append(f"memory: {grown:.1f} MiB more")
    if cost_ratio > MAX_COST_RATIO:
        found.append(f"CPU: an honest submission costs {cost_ratio:.2f} times as much in the end")
    return found + [f"left behind: {what}" for what in left]


def main() -> None:
    """Grade, watch, report."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--count", type=int, default=5000, help="submissions")
    parser.add_argument("-o", "--output", type=Path, default=RESULT, help="where the figures go")
    options = parser.parse_args()
    kernel_calls.prctl(kernel_calls.PR_SET_CHILD_SUBREAPER, 1)  # so that left-over processes become our descendants
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        soak = Soak(folder)
        soak.run(options.count)
    finally:
        shutil.rmtree(folder)
    found = [*soak.wrong, *leaks(soak.snapshots, soak.cost_ratio, soak.left)]
    report = {"submissions": options.count, **soak.figures(), "found": found}
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(report, indent=1) + "\n")
    print(soak.summary(), *(found or ["no leak, every score right"]), sep="\n")
    sys.exit(1 if found else 0)


class _Hostile(NamedTuple):
    """A hostile program and its input."""

    program: Any
    known: dict[str, Any]


class Soak:
    """One long run."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(HOSTILE_TESTS))  # the programs and their course belong to the tests
        from tests.support import hostile_course, hostile_grading_host
        from tests.support.hostile_programs import ALL

        self._folder, self._write = folder, hostile_grading_host.write
        course = hostile_course.HostileCourse()
        for path, text in course.files().items():
            for short, long in _PATIENT_LIMITS.items() if path.endswith("assignment.yaml") else ():
                text = text.replace(f"  {short}\n", f"  {long}\n")
            self._write(folder / path, text)
        (folder / hostile_course.SECRET_FILE).chmod(0o600)
        self._secret = (folder / hostile_course.SECRET_FILE).read_bytes()
        places = {name.lower(): str(folder / getattr(hostile_course, name)) for name in ("KEY", "TESTS", "OTHER")}
        known: dict[str, object] = {
            "tier": "T3",
            "base": str(folder),
            "secret": str(folder / hostile_course.SECRET_FILE),
            **places,
        }
        known |= {"results": str(folder / hostile_course.RESULTS), "port": 9, "host": os.getpid(), "examiner": 1}
        self._honest = course.honest()
        self._hostile = [_Hostile(p, {**known, "turn": turn}) for p in ALL for turn in range(p.turns)]
        self.snapshots: list[Snapshot] = []
        self.cpu_s: list[tuple[float, float]] = []
        """For each honest submission: CPU seconds, and those of a fixed piece of work right after it."""
        self.left: list[str] = []
        self.wrong: list[str] = []
        """Honest submissions that lost points, hostile ones that won some."""
        self._started, self._load = time.monotonic(), os.getloadavg()[0]

    def run(self, count: int) -> None:
        """Grade `count` submissions with one examiner."""
        course = load_course(self._folder / "course")
        self._withheld = course.withheld
        examiner = ExaminerProcess(course, course.assignment("small"), self._secret, BoxOptions(Tier.T3))
        hostile = itertools.cycle(self._hostile)
        self._warm = min(EVERY * len(self._hostile), count // 2)
        with accounted() as used_s:
            with examiner:
                examiner.open()
                for number in range(count):
                    if number % EVERY == EVERY - 1:
                        self._attacked(examiner, number, next(hostile))
                        self._take_snapshot(number)
                    else:
                        self._honest_one(examiner, number, used_s)
                family = processes.family(os.getpid())
            self._look_for_leftovers(family)

    def _attacked(self, examiner: ExaminerProcess, number: int, hostile: "_Hostile") -> None:
        program = hostile.program
        files = program.files(hostile.known)
        score = self._grade(examiner, files, GradeOptions(call_s=HOSTILE_CALL_S), program.called, program.only)
        self._judge(number, program.name, right=score.earned == 0)

    def _honest_one(self, examiner: ExaminerProcess, number: int, used_s: Callable[[], float]) -> None:
        before = used_s()
        score = self._grade(examiner, {"solution.py": f"# {number}\n{self._honest}"}, GradeOptions())
        after = used_s()
        self.cpu_s.append((after - before, yardstick_s()))
        self._judge(number, "honest", right=score.earned == score.points)

    def _judge(self, number: int, kind: str, *, right: bool) -> None:
        if not right:
            self.wrong.append(f"{kind} submission {number} got the wrong score")
            print(self.wrong[-1], flush=True)

    def _grade(
        self,
        examiner: ExaminerProcess,
        files: Mapping[str, Any],
        options: GradeOptions,
        name: str = "submission",
        only: str = "",
    ) -> Score:
        handed_in = self._folder / "submission"
        shutil.rmtree(handed_in, ignore_errors=True)
        for path, text in files.items():
            self._write(handed_in / path, text)
        submission: Submission = open_submission(handed_in / only, name, withheld=self._withheld)
        return examiner.grade(GradeRequest(submission, options)).score

    def _take_snapshot(self, number: int) -> None:
        if number + 1 > self._warm:
            self.snapshots.append(snapshot.take(number + 1, os.getpid(), snapshot.chain(os.getpid(), _STAYING)))
        if (number + 1) % (10 * EVERY) == 0 and self.snapshots:
            print(json.dumps(self.snapshots[-1].plain()), flush=True)

    def _look_for_leftovers(self, family: list[int]) -> None:
        """Look for what is left after everything was closed."""
        time.sleep(2.0)
        self.left += [f"process {pid}" for pid in processes.family(os.getpid())[1:]]
        self.left += [f"control group {path}" for path in snapshot.groups_of(family)]
        self.left += [f"file {path}" for path in snapshot.files_of(family, snapshot.PLACES)]

    @property
    def cost_ratio(self) -> float:
        """Return the CPU of an honest submission in the last window as a multiple of the first, in units of fixed work.

        Other programs on the machine make every CPU second longer or shorter; the fixed work shows by how much.
        """
        first, last = self._windows()
        return _units(last) / _units(first)

    def _windows(self) -> Iterator[list[tuple[float, float]]]:
        warm = self.cpu_s[WARM:]
        size = max(1, min(WINDOW, len(warm) // 2))
        return iter((warm[:size], warm[-size:]))

    def figures(self) -> dict[str, object]:
        """Return the figures of the run."""
        cpu_ms = [statistics.median(cpu for cpu, _ in window) * 1e3 for window in self._windows()]
        return {
            "wall_s": round(time.monotonic() - self._started),
            "load": [self._load, os.getloadavg()[0]],
            "cpu_ms_first_last": [round(value, 2) for value in cpu_ms],
            "dearer": round(self.cost_ratio, 3),
            "snapshots": [taken.plain() for taken in self.snapshots[:: max(1, len(self.snapshots) // 50)]],
        }

    def summary(self) -> str:
        """Return a few lines for people."""
        figures = self.figures()
        ends = [taken.plain() for taken in (self.snapshots[0], self.snapshots[-1])]
        return (
            f"{figures['wall_s']} s; load {figures['load']}; CPU of an honest submission, first and last: "
            f"{figures['cpu_ms_first_last']} ms, {figures['dearer']} times as much in units of fixed work\n"
            f"first: {ends[0]}\nlast:  {ends[1]}"
        )


def _units(window: Sequence[tuple[float, float]]) -> float:
    return statistics.median(cpu / yardstick for cpu, yardstick in window)


def yardstick_s() -> float:
    """Return the CPU seconds of a fixed piece of work, of Python and of copying."""
    started = time.process_time()
    for _ in range(200):
        bytearray(_YARDSTICK)
    sum(range(100_000))
    return time.process_time() - started


if __name__ == "__main__":
    main()
