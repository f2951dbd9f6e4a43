"""Measure what right and wrong submissions reach in tests that train, and write the thresholds with all the values.

Used by the scripts `graders/<a>/thresholds/measure.py`. The graders run as with `pytest --submission`, in the box, but
here `training.judge` runs every seed that it is given and judges nothing, and no training ends early.
"""

import json
import os
import platform
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from viva.formats.atomic_write import write_atomically
from viva.plugins import training

WRONG_SEEDS: Final = 8
ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True)
class Measured:
    """A threshold to be written."""

    name: str
    value: float
    direction: str
    test: str
    """The test function that asks for it."""
    wrong: tuple[str, ...]
    """Submissions that it must reject, such as `wrong/no_step`."""
    one_is_enough: bool = False
    """Whether one of three runs is enough."""

    @property
    def right_runs(self) -> int:
        """Return how many runs of right submissions are needed."""
        return training.RIGHT_RUNS_IF_ONE_IS_ENOUGH if self.one_is_enough else training.RIGHT_RUNS


def measure(
    assignment: str, right: Sequence[str], wanted: Sequence[Measured], report: Callable[[str], None] = print
) -> dict[str, Any]:
    """Return the content of a file of thresholds: 20 runs over the right submissions together, 8 of each wrong one.

    Where one of three runs is enough, it is 100 runs of right ones.
    """
    values: dict[str, dict[str, list[float]]] = {m.name: {} for m in wanted}
    for runs in sorted({m.right_runs for m in wanted}):
        some = [m for m in wanted if m.right_runs == runs]
        for index, submission in enumerate(right):
            seeds = range(100 * index, 100 * index - (-runs // len(right)))
            found = values_of(assignment, submission, {m.test for m in some}, seeds)
            for m in some:
                values[m.name].setdefault("right", []).extend(found[m.name])
            report(f"{submission}: {json.dumps({m.name: _rounded(found[m.name]) for m in some})}")
    for submission in dict.fromkeys(w for m in wanted for w in m.wrong):
        broken = [m for m in wanted if submission in m.wrong]
        found = values_of(assignment, submission, {m.test for m in broken}, range(WRONG_SEEDS))
        for m in broken:
            values[m.name][submission] = found[m.name]
        report(f"{submission}: {json.dumps({m.name: _rounded(found[m.name]) for m in broken})}")
    return {m.name: _entry(m, values[m.name]) for m in wanted}


def values_of(assignment: str, submission: str, tests: Iterable[str], seeds: Iterable[int]) -> dict[str, list[float]]:
    """Return what a submission reaches with each seed, by the name of the threshold."""
    path = ROOT / "fixtures" / assignment / "submissions" / submission
    found: dict[str, list[float]] = {}
    all_seeds = list(seeds)

    def keep(run: Callable[[int], Any], threshold: training.Threshold, *_: Any, **__: Any) -> float:
        found[threshold.name] = [float(run(seed)) for seed in all_seeds]
        return found[threshold.name][0]

    def whole(*args: Any, until: object = None, **kwargs: Any) -> Any:
        return epochs(*args, **kwargs)

    epochs = training.epochs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "judge", keep)
        patch.setattr(training, "epochs", whole)
        patch.setattr(training, "thresholds", lambda _: Unmeasured())
        ended = pytest.main(
            ["-q", "-c", os.devnull, f"--rootdir={ROOT}", "--import-mode=importlib", "-p", "no:cacheprovider",
             f"--submission={path}", f"--course={ROOT}", "-k", " or ".join(sorted(tests)),
             str(ROOT / "graders" / assignment)],
            plugins=[Unhurried()],
        )  # fmt: skip
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not found:
        raise RuntimeError(f"{submission}: the tests {', '.join(sorted(tests))} could not be run.")
    return found


class Unmeasured(dict[str, training.Threshold]):
    """Thresholds of any name, for tests that do not have theirs yet."""

    def __missing__(self, name: str) -> training.Threshold:
        return training.Threshold(name, 0.0, "at least", (), {}, "")


class Unhurried:
    """Gives every test an hour: here it runs with many seeds."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # before `PlainRun` reads the limits
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """Give every test a longer limit; pytest uses the marker that comes first."""
        for item in items:
            item.add_marker(pytest.mark.timeout(3600), append=False)
        return (yield)


def write(path: Path, script: str, entries: dict[str, Any], more: dict[str, Any] | None = None) -> list[str]:
    """Write the file; return a sentence for each problem with its thresholds."""
    import torch

    made_with = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    content = {"script": script, "made_with": made_with, "thresholds": entries, **(more or {})}
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    read = training.read_thresholds(path)
    return [complaint for threshold in read.values() for complaint in threshold.complaints()]


def _entry(m: Measured, values: dict[str, list[float]]) -> dict[str, Any]:
    wrong = {name: _rounded(found) for name, found in values.items() if name != "right"}
    right = _rounded(values["right"])
    threshold = training.Threshold(
        m.name, m.value, m.direction, tuple(right), {n: tuple(v) for n, v in wrong.items()}, ""
    )
    distances = {name: round(d, 2) if abs(d) != float("inf") else None for name, d in threshold.distances.items()}
    rule = {"one_is_enough": True} if m.one_is_enough else {}
    asked = {"value": m.value, "direction": m.direction, **rule}
    return {**asked, "right": right, "wrong": wrong, "distances": distances}


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 4) for value in values]


def main(measured: Callable[[], list[str]]) -> None:
    """Run a script's measurements; exit with status 1 if a threshold does not separate right from wrong enough."""
    complaints = measured()
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(1 if complaints else 0)
