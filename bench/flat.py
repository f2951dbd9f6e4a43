"""`make bench-flat`: what each of 2,000 submissions costs one examiner, to be seen as a line that stays level.

Right submissions of the small assignment. CPU of the whole process tree, boxes included, between the end of one
submission and the end of the next; a fixed piece of work after each says how fast the machine was at that moment.
Also the memory of the examiner, which is to grow by less than 20 MiB over 1,000.
"""

import argparse
import csv
import os
import statistics
import tempfile
from pathlib import Path

from bench.measure import accounted
from bench.small_course import name_of, write
from bench.snapshot import chain, rollup_mib
from bench.soak import yardstick_s
from viva.config import load_course
from viva.model import Tier
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission

FOLDER = Path(__file__).parents[1] / "results"
STEP = 20
"""The number of measurements whose median is a point of the picture."""
_DISTINCT = 20

Row = tuple[int, float, float, float]
"""Number, CPU of a submission and of the fixed work in milliseconds, both medians of STEP; MiB of the examiner."""


def main() -> None:
    """Measure, write the table, draw."""
    parser = argparse.ArgumentParser(prog="python -m bench.flat", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="submissions")
    options = parser.parse_args()
    rows = measure(options.count)
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "flat.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["submission", "cpu_ms", "fixed_work_ms", "examiner_mib"])
        table.writerows(rows)
    draw(rows, FOLDER / "flat.svg")


def measure(count: int) -> list[Row]:
    """Grade, and take figures after each STEP submissions."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, accounted() as used_s:
        folder = Path(name)
        write(folder, size=_DISTINCT, torch=False)
        course = load_course(folder / "course")
        class_ = [open_submission(folder / "modules" / name_of(i), name_of(i)) for i in range(_DISTINCT)]
        rows, some = list[Row](), list[tuple[float, float]]()
        with ExaminerProcess(
            course, course.assignment("small"), b"the measurements need no secret", BoxOptions(Tier.T3)
        ) as examiner:
            examiner.open()
            for number in range(1, count + 1):
                before = used_s()
                examiner.grade(GradeRequest(class_[number % _DISTINCT], GradeOptions()))
                some.append((used_s() - before, yardstick_s()))
                if number % STEP == 0:
                    cpu, fixed = (statistics.median(column) * 1e3 for column in zip(*some, strict=True))
                    memory = rollup_mib(chain(os.getpid(), 2)[1:], "Pss:")
                    rows.append((number, round(cpu, 2), round(fixed, 3), round(memory, 2)))
                    some.clear()
                    print(*rows[-1], flush=True)
    return rows


def draw(rows: list[Row], picture: Path) -> None:
    """Draw two lines: as measured, and divided by how much slower the machine was than at its median."""
    from matplotlib.figure import Figure

    numbers, cpu, fixed, memory = (list(column) for column in zip(*rows, strict=True))
    usual = statistics.median(fixed)
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(numbers, cpu, color="0.75", linewidth=1, label="as measured, beside other work on the machine")
    axes.plot(numbers, [c * usual / f for c, f in zip(cpu, fixed, strict=True)], label="in units of fixed work")
    axes.set(xlabel="submission", ylabel="CPU, ms", ylim=(0, None), xlim=(0, max(numbers)))
    axes.set_title(f"CPU of one more submission (medians of {STEP})", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    grown = memory[-1] - memory[0]
    axes.annotate(f"examiner: {grown:+.1f} MiB", (1, 0.02), xycoords="axes fraction", ha="right", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
