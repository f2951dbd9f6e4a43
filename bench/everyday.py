"""`make bench-everyday`: the commands that people wait for, on this course, each started cold and timed as a whole.

CPU of whole process trees and wall time, medians; each row says what is to be reached. `--only PART` runs the rows
whose name holds PART.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.assignments import COURSE, SECRET, grade
from bench.measure import BIN, COUNTS_BOXES, Cost, run

FIXTURES: Final = COURSE / "fixtures"
_LARGE: Final = ("transfer_learning", "adapting_transformers", "bert_lora_fudge")
"""The assignments whose submissions need torch, and whose tests train."""
_FIRST: Final = {
    "transfer_learning": "torch_module",
    "adapting_transformers": "torch_einsum",
    "bert_lora_fudge": "torch_modules",
}
"""The accepted submission that is graded cold."""
_WRONG: Final = {
    "transfer_learning": "learning_rate_stays_zero",
    "adapting_transformers": "learning_rate_stays_zero",
    "bert_lora_fudge": "both_factors_zero",
}
"""A submission that never learns, which costs most: each miss is tried again."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command, or several after one another, in a folder of its own."""

    name: str
    reach_s: float
    """Wall time that is to be reached."""
    measure: Callable[[Path], Cost]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.everyday", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each row is measured")
    parser.add_argument("--only", default="", metavar="PART", help="the rows whose name holds PART")
    options = parser.parse_args()
    if not COUNTS_BOXES:
        print("No control group can be made here: the CPU of the boxes themselves is missing below.\n")
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}.\n")
    print("| command | CPU | wall | to reach (wall) |\n|---|---|---|---|", flush=True)
    for row in rows():
        if options.only in row.name:
            costs = [_once(row) for _ in range(options.rounds)]
            cpu, wall = (
                statistics.median(values) for values in zip(*((c.cpu_s, c.wall_s) for c in costs), strict=True)
            )
            print(f"| {row.name} | {cpu:.2f} s | {wall:.2f} s | {row.reach_s:g} s |", flush=True)


def rows() -> Iterator[Row]:
    """Yield the rows of the table."""
    numpy = FIXTURES / "attention_theory/submissions/accepted/numpy_vectorised"
    yield Row("check attention_theory, a numpy solution", 0.7, lambda _: viva("check", "-a", "attention_theory", numpy))
    for assignment in _LARGE:
        accepted, wrong = (FIXTURES / assignment / "submissions" / kind for kind in ("accepted", "wrong"))
        right, never = accepted / _FIRST[assignment], wrong / _WRONG[assignment]
        yield Row(f"grade {assignment}, no training", 2.5, _graded(assignment, "--no-training", [right]))
        yield Row(f"grade {assignment}, with training", 8, _graded(assignment, "--training", [right]))
        yield Row(f"grade {assignment}, never learns", 12, _graded(assignment, "--training", [never]))
    yield Row("verify translation_and_masks --no-mutants", 8, _verified("translation_and_masks", "--no-mutants"))
    yield Row("verify attention_theory, ten mutants", 8, _verified("attention_theory"))
    yield Row("release translation_and_masks", 10, _released("translation_and_masks"))
    yield Row("release transfer_learning", 15, _released("transfer_learning"))


def viva(*arguments: str | Path, statuses: Sequence[int] = (0,)) -> Cost:
    """Run a command of viva for this course to its end, and return its cost."""
    return run([str(BIN / "viva"), *map(str, arguments)], cwd=COURSE, env=SECRET, statuses=statuses)


def _once(row: Row) -> Cost:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return row.measure(Path(folder))


def _graded(assignment: str, training: str, paths: Sequence[Path]) -> Callable[[Path], Cost]:
    return lambda _: grade(assignment, [*paths], training)


def _verified(assignment: str, *more: str) -> Callable[[Path], Cost]:
    """Verify for the first time: programs run for every question."""
    return lambda _: viva("verify", assignment, *more)


def _released(assignment: str) -> Callable[[Path], Cost]:
    """Release after a verification."""

    def measure(folder: Path) -> Cost:
        viva("verify", assignment, "--no-mutants")
        return viva("release", assignment, "--to", folder / "released")

    return measure


if __name__ == "__main__":
    main()
