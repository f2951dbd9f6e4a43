"""`make bench-scale`: a class of 2,000 on this machine: graded and kept, again with nothing to do, regraded, reported.

Each step is a command that a user would run, timed as a whole: wall, CPU of the process tree (boxes included), memory
of the largest process. What a submission costs the first hundred and the last is in `make bench-flat`.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from bench.measure import BIN, Cost, run
from bench.small_course import name_of, total_of, write
from viva.records import Records


def main() -> None:
    """Print a row for each step."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="submissions")
    options = parser.parse_args()
    count = options.count
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}.\n")
    print(f"| a class of {count} | wall | CPU | memory | to reach |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        write(folder, size=count, torch=False)
        with (folder / "course" / "grader.yaml").open("a") as file:
            file.write("records: sqlite:///records.db\n")
        grade = ["grade", "--course", "course", "modules", "-o", "results"]
        _row("graded, kept, results written", _step(folder, *grade), f"{count} submissions")
        _check(folder, count)
        _row("the same again: nothing to do", _step(folder, *grade), "≤ 5 s")
        tests = folder / "course/graders/small/test_small.py"
        tests.write_text(tests.read_text().replace("@weight(3)\ndef test_ngrams", "@weight(4)\ndef test_ngrams"))
        _row(
            "other points, regraded from call logs",
            _step(folder, "regrade", "small", "--course", "course"),
            "seconds",
        )
        _row("the regrade applied", _step(folder, "regrade", "small", "--course", "course", "--apply"), "")
        _row("results rewritten", _step(folder, *grade), "")
        _row("report", _step(folder, "report", "results", "--course", "course", "-o", "report"), "≤ 20 s")
        size = sum(path.stat().st_size for path in (folder / "course").glob("records.db*"))
        print(f"\nRecords: {size / (1 << 20):.1f} MiB, {size / count / 1024:.1f} KiB a submission.")


def _step(folder: Path, *arguments: str) -> Cost:
    return run([str(BIN / "viva"), *arguments], cwd=folder)


def _row(what: str, cost: Cost, reach: str) -> None:
    print(f"| {what} | {cost.wall_s:.1f} s | {cost.cpu_s:.1f} s | {cost.peak_mib:.0f} MiB | {reach} |", flush=True)


def _check(folder: Path, count: int) -> None:
    """Check that every submission has its total, in the records as well."""
    with Records.open("sqlite:///records.db", folder / "course") as records:
        kept = {k.scored.attempt.name: k.scored.score.earned for k in records.current("small")}
    wrong = [n for n in range(count) if kept.get(name_of(n)) != total_of(n)]
    if wrong:
        raise SystemExit(f"wrong or missing scores: {wrong[:10]}")


if __name__ == "__main__":
    main()
