"""`python -m bench.error_rates A…`: how often verdicts of tests that train are wrong.

It runs the programs from which the thresholds were measured, with other seeds: 200 right runs together, 20 of each
wrong program; every other go has one processor core, so that torch uses one thread. The error rates of verdicts, which
fall after one to three runs, follow from those of one run. The figures go to results/error_rates.json after each
ten runs.

Takes ten minutes of one core for bert_lora_fudge, and three quarters of an hour for each of the others.
"""

import argparse
import importlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.thresholds import Measured, values_of
from viva.formats.atomic_write import write_atomically
from viva.plugins import training
from viva.plugins.training import share_at_most

TARGET: Final = Path(__file__).parents[1] / "results/error_rates.json"
FIRST_SEED: Final = 10_000
"""The thresholds were measured with smaller ones."""
_SEEDS_EACH: Final = 10
"""Seeds of one program in one go: more of a slow program would take longer than a submission may."""


def main() -> None:
    """Measure assignments, print a row for each threshold and program, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m bench.error_rates", description=__doc__)
    parser.add_argument("assignments", nargs="+", metavar="A", help="assignments with tests that train")
    parser.add_argument("--right", type=int, default=200, help="runs of right programs")
    parser.add_argument("--wrong", type=int, default=20, help="runs of each wrong program")
    options = parser.parse_args()
    for assignment in options.assignments:
        for found in measured(assignment, options.right, options.wrong):
            written = json.loads(TARGET.read_text("utf-8")) if TARGET.exists() else {}
            written[assignment] = found
            text = json.dumps(dict(sorted(written.items())), indent=1, ensure_ascii=False)
            write_atomically(TARGET, f"{text}\n".encode())


def measured(assignment: str, right: int, wrong: int) -> Iterator[dict[str, Any]]:
    """Yield what is known after each go.

    By threshold: runs and misses of right programs, runs and hits of each wrong one, and error rates.
    """
    script = importlib.import_module(f"graders.{assignment}.thresholds.measure")
    limits = training.read_thresholds(Path(script.__file__ or "").parent / "fine_tuning.json")
    wanted: Sequence[Measured] = script.WANTED
    found: dict[str, Any] = {m.name: {"right": [], "wrong": defaultdict(list)} for m in wanted}
    for turn in range(-(-right // (_SEEDS_EACH * len(script.RIGHT)))):
        for submission in script.RIGHT:
            for name, values in _run(assignment, submission, wanted, turn).items():
                found[name]["right"] += values
            yield {name: _rates(limits[name], values) for name, values in found.items()}
    for submission in dict.fromkeys(name for m in wanted for name in m.wrong):
        broken = [m for m in wanted if submission in m.wrong]
        for turn in range(-(-wrong // _SEEDS_EACH)):
            for name, values in _run(assignment, submission, broken, turn).items():
                found[name]["wrong"][submission] += values
            yield {name: _rates(limits[name], values) for name, values in found.items()}


def _run(assignment: str, submission: str, wanted: Sequence[Measured], turn: int) -> dict[str, list[float]]:
    seeds = range(FIRST_SEED + turn * _SEEDS_EACH, FIRST_SEED + (turn + 1) * _SEEDS_EACH)
    with _cores(1 if turn % 2 else 2):
        found = values_of(assignment, submission, {m.test for m in wanted}, seeds)
    values = {m.name: found[m.name] for m in wanted}
    print(
        f"{assignment} {submission}: { ({name: [round(v, 3) for v in some] for name, some in values.items()}) }",
        flush=True,
    )
    return values


@contextmanager
def _cores(most: int) -> Iterator[None]:
    """Keep this process and its boxes on so many processor cores."""
    there = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(there)[:most])
    try:
        yield
    finally:
        os.sched_setaffinity(0, there)


def _rates(limit: training.Threshold, found: dict[str, Any]) -> dict[str, Any]:
    """Return counts, and the 95 % upper bounds of the rates at which verdicts are wrong."""
    misses = sum(not limit.met_by(value) for value in found["right"])
    rates: dict[str, Any] = {
        "right": {
            "runs": len(found["right"]),
            "misses": misses,
            "range": [round(min(found["right"]), 4), round(max(found["right"]), 4)],
            "verdicts that are wrong, at most": round(_missing(limit, share_at_most(misses, len(found["right"]))), 6),
        },
        "wrong": {},
    }
    for name, values in found["wrong"].items():
        hits = sum(map(limit.met_by, values))
        rates["wrong"][name] = {
            "runs": len(values),
            "hits": hits,
            "range": [round(min(values), 4), round(max(values), 4)],
            "verdicts that are wrong, at most": round(1 - _missing(limit, 1 - share_at_most(hits, len(values))), 4),
        }
    return rates


def _missing(limit: training.Threshold, share: float) -> float:
    """Return how often a program loses points of which this share of runs misses: see training.judge."""
    return share**3 if limit.one_is_enough else share * (1 - (1 - share) ** 2)


if __name__ == "__main__":
    main()
