"""Measure this course's assignments: one more submission without training, and the tests that train."""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import BIN, Cost, run
from viva.config import load_course
from viva.submissions.examples import lay_out

COURSE = Path(__file__).parents[1]
SECRET = {"VIVA_SECRET": "the measurements need no secret"}
NEVER_LEARNS = ("learning_rate_stays_zero", "both_factors_zero")
"""Misses every threshold, so that everything is run with three seeds: the most expensive submission."""


def another_submission(rounds: int) -> None:
    """Print a table with a row for each assignment: another submission, over its accepted example submissions."""
    print("\nOne more submission of each assignment, nothing is trained; milliseconds and MiB.\n")
    print("| assignment | accepted fixtures | viva cpu (warm) | wall | memory |\n|---|---|---|---|---|", flush=True)
    for assignment in load_course(COURSE).assignments:
        fixtures = COURSE / "fixtures" / assignment / "submissions" / "accepted"
        with tempfile.TemporaryDirectory() as name:
            for turn in ("first", "second"):
                for path in fixtures.iterdir():
                    lay_out(path, Path(name, turn, path.name))
            once = sorted(Path(name, "first").iterdir())
            twice = [*once, *sorted(Path(name, "second").iterdir())]
            pairs = [[grade(assignment, paths, "--no-training") for paths in (once, twice)] for _ in range(rounds)]
        per = statistics.median((b.cpu_s - a.cpu_s) / len(once) for a, b in pairs)
        wall = statistics.median((b.wall_s - a.wall_s) / len(once) for a, b in pairs)
        peak = max(cost.peak_mib for _, cost in pairs)
        print(f"| {assignment} | {len(once)} | {per * 1e3:.0f} | {wall * 1e3:.0f} | {peak:.0f} |", flush=True)


def tests_that_train() -> None:
    """Print a table with a row for each submission: what its tests that train cost, alone and next to another one."""
    print("\nThe tests of a submission that train; seconds. Beside: two submissions on two workers.\n")
    print("| assignment | submission | cpu | wall | beside: wall |\n|---|---|---|---|---|", flush=True)
    for assignment, paths in trained():
        for path in paths:
            without, alone = grade(assignment, [path], "--no-training"), grade(assignment, [path], "--training")
            with tempfile.TemporaryDirectory() as name:
                copies = [Path(name, turn, path.name) for turn in ("first", "second")]
                for copy in copies:
                    lay_out(path, copy)
                paired = grade(assignment, copies, "--training", workers=2)
            print(
                f"| {assignment} | {path.parent.name}/{path.name} | {alone.cpu_s - without.cpu_s:.1f} "
                f"| {alone.wall_s - without.wall_s:.1f} | {paired.wall_s - without.wall_s:.1f} |",
                flush=True,
            )


def trained() -> Iterator[tuple[str, list[Path]]]:
    """Yield assignments with tests that train, each with its accepted submissions and one that never learns."""
    for assignment in load_course(COURSE).assignments:
        submissions = COURSE / "fixtures" / assignment / "submissions"
        never = [submissions / "wrong" / name for name in NEVER_LEARNS if (submissions / "wrong" / name).is_dir()]
        if never:
            yield assignment, [*sorted((submissions / "accepted").iterdir()), *never]


def grade(assignment: str, paths: list[Path], training: str, workers: int = 1) -> Cost:
    """Run `viva grade` once for submissions of this course."""
    with tempfile.TemporaryDirectory() as out:
        command = [str(BIN / "viva"), "grade", "--course", str(COURSE), "--assignment", assignment, training]
        command += ["--workers", str(workers), "-o", out, *map(str, paths)]
        return run(command, cwd=COURSE, env=SECRET)
