"""`make bench-scale`: classes of 2,000 and 20,000 on this machine: graded and kept, nothing to do, regraded, reported.

Each step is a command that a user would run, timed as a whole: wall, CPU of the process tree (boxes included), memory
of the largest process. Of a class larger than `--graded`, that many submissions are graded and the records are filled
with the others. What a submission costs the first hundred and the last is in `make bench-flat`.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import BIN, Cost, run
from bench.small_course import name_of, write

GRADED = 2000
"""At most this many submissions of a class are graded."""
ROOT = Path(__file__).parents[1]
OF_COURSE = ("--course", "course")


def main() -> None:
    """Print a row for each step, for each class."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--count", type=int, nargs="+", default=[2000, 20_000], help="submissions, for each class")
    parser.add_argument("--graded", type=int, default=GRADED, help="how many are graded; the others are copied")
    options = parser.parse_args()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}.")
    for count in options.count:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            measure(Path(name), count, min(count, options.graded))


def measure(folder: Path, count: int, graded: int) -> None:
    """Measure each step for one class.

    Args:
        folder: an empty folder.
        count: submissions of the class.
        graded: how many are graded, at least two; the others are copied into the records.
    """
    print(f"\n| a class of {count} | wall | CPU | memory | to reach |\n|---|---|---|---|---|", flush=True)
    write(folder, size=count, torch=False, notebooks=False)
    with (folder / "course" / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    grade = ("grade", *OF_COURSE, "modules", "-o", "results")
    if graded == count:
        _row("graded, kept, results written", _viva(folder, *grade), "≤ 18 s")
    else:
        some = [f"modules/{name_of(n)}" for n in range(graded)]
        _row(f"{graded} of them graded", _viva(folder, "grade", *OF_COURSE, *some, "-o", "results"), "")
    filled = run([sys.executable, "-m", "bench.class_records", str(count)], cwd=folder, env={"PYTHONPATH": str(ROOT)})
    if graded < count:
        _row(f"{count - graded} copied into the records (no command)", filled, "")
        _row("their results written", _viva(folder, *grade), "")
    _row("the same again: nothing to do", _viva(folder, *grade), "≤ 5 s" if count == 2000 else "")
    tests = folder / "course/graders/small/test_small.py"
    tests.write_text(tests.read_text().replace("@weight(3)\ndef test_ngrams", "@weight(4)\ndef test_ngrams"))
    regraded = _viva(folder, "regrade", "small", *OF_COURSE)
    if f"{count} with a different result; 0 programs were run" not in regraded.output:
        raise SystemExit(f"programs were run: {regraded.output[-300:]}")
    _row("other points, regraded from call logs", regraded, "")
    _row("the regrade applied", _viva(folder, "regrade", "small", *OF_COURSE, "--apply"), "")
    _row("results rewritten", _viva(folder, *grade), "")
    for what, command in _OF_THE_CLASS.items():
        _row(what, _viva(folder, *command), "≤ 20 s" if what.startswith("report") and count == 2000 else "")
    size = sum(path.stat().st_size for path in (folder / "course").glob("records.db*"))
    print(f"\nRecords: {size / (1 << 20):.1f} MiB, {size / count / 1024:.1f} KiB a submission.")


_OF_THE_CLASS = {
    "report, from the folder of results": ("report", "results", *OF_COURSE, "-o", "report"),
    "report, from the records": ("report", "small", *OF_COURSE, "-o", "report-of-records"),
    "report with a page for each student": ("report", "small", *OF_COURSE, "--feedback", "-o", "feedback"),
    "grades as a table, from the records": ("grades", "small", *OF_COURSE, "--to", "csv", "-o", "grades.csv"),
    "grades from the folder of results": ("grades", "results", *OF_COURSE, "--to", "csv", "-o", "grades2.csv"),
}
"""Commands about the whole class, by what they are called in the table."""


def _viva(folder: Path, *arguments: str) -> Cost:
    return run([str(BIN / "viva"), *arguments], cwd=folder)


def _row(what: str, cost: Cost, reach: str) -> None:
    print(f"| {what} | {cost.wall_s:.1f} s | {cost.cpu_s:.1f} s | {cost.peak_mib:.0f} MiB | {reach} |", flush=True)


if __name__ == "__main__":
    main()
