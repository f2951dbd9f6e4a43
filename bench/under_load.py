"""Grade all accepted submissions of this course while the machine is busy; each must keep every point.

`python -m bench.under_load` starts 24 endless loops per core, all in one session, as a shell does; Linux then gives
them half of the machine together. With --apart, each has its own session, and gets as much as the whole grading.
--share 0.1 gives the grading, its boxes included, a tenth of a core instead (as root, with control groups).
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from viva.config import Course, load_course
from viva.model import Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions
from viva.plugins.verify.verdict_check import complaints

ROOT = Path(__file__).parents[1]
SECRET = b"the measurements need no secret"
GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


def main() -> int:
    """Grade, round by round; the exit status is 1 if a point was lost."""
    parser = argparse.ArgumentParser(prog="python -m bench.under_load", description=__doc__)
    parser.add_argument("--loops", type=int, default=24, help="endless loops per core")
    parser.add_argument("--apart", action="store_true", help="give each loop a session of its own")
    parser.add_argument("--share", type=float, default=0.0, help="of a core for the grading, instead of loops")
    parser.add_argument("--training", action="store_true", help="run the tests that train as well")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of assignments")
    options = parser.parse_args()
    course = load_course(ROOT)
    lost = 0
    for number in range(1, options.rounds + 1):
        busy = limited(options.share) if options.share else loops(options.loops * (os.cpu_count() or 1), options.apart)
        began = time.monotonic()
        with busy:
            count, found = graded(course, options.only or course.assignments, training=options.training)
        lost += len(found)
        print(
            f"round {number}: {count} submissions in {time.monotonic() - began:.0f} s, {len(found)} lost points",
            flush=True,
        )
        for line in found:
            print(f"  {line}", flush=True)
    return int(lost > 0)


def graded(course: Course, names: Sequence[str], *, training: bool) -> tuple[int, list[str]]:
    """Grade the accepted submissions; return how many there are, and a line for each thing that they lost."""
    examples: dict[str, ExampleSubmission] = {}
    jobs = []
    for assignment in map(course.assignment, names):
        for example in example_submissions(course, assignment):
            if example.verdict == "accepted":
                name = f"{assignment.name}/{example.name}"
                examples[name] = example
                jobs.append(Job(Path(name), name, assignment, example.submission))
    pool = LocalPool(course, SECRET, BoxOptions(Tier.T3), GradeOptions(training=training))
    lines = []
    for job, result in pool.run(jobs):
        if not isinstance(result, Graded):
            raise result
        lines += [f"{job.name}: {text}" for text in complaints(examples[job.name], result.score)]
    return len(jobs), lines


@contextlib.contextmanager
def loops(count: int, apart: bool) -> Iterator[None]:
    """Run endless loops during the block."""
    one = [sys.executable, "-S", "-c", "while True: pass"]
    together = f"import os\nfor _ in range({count - 1}):\n    if os.fork() == 0: break\nwhile True: pass"
    commands = [one] * count if apart else [[sys.executable, "-S", "-c", together]] * bool(count)
    started = [subprocess.Popen(command, start_new_session=True) for command in commands]
    try:
        yield
    finally:
        for process in started:
            os.killpg(process.pid, 9)
            process.wait()


@contextlib.contextmanager
def limited(share: float) -> Iterator[None]:
    """Give this process, and those that it starts in the block, a share of a core."""
    first = (GROUPS / "cpu").is_dir()  # version 1 of control groups
    folder = (GROUPS / "cpu" if first else GROUPS) / "viva-under-load"
    folder.mkdir(exist_ok=True)  # a killed run leaves it in place
    quota = str(int(share * PERIOD_US))
    for name, text in {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": quota}.items() if first else ():
        (folder / name).write_text(text)
    if not first:
        (folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")
    (folder / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield
    finally:
        (folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
