"""The tests that a check does not include, and their points: every test of the assignment counts exactly once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import show
from viva.model import Entry, Status

HIDDEN: Final = "hidden tests"
GPU: Final = "tests that need a GPU"
TRAINING: Final = "tests that train"
WRITTEN: Final = "graded by hand"
OURS: Final = "tests that went wrong on the grader's side"
OTHERS: Final = "questions that you did not ask for"
_ORDER: Final = (HIDDEN, GPU, TRAINING, WRITTEN, OURS, OTHERS)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Tests of one kind that were not run, or whose points are not decided here."""

    what: str
    tests: int
    """How many; 0 where only the graders know."""
    points: Fraction


def left_out(
    tests: Sequence[Entry], entries: Sequence[Entry], elsewhere: Mapping[str, Fraction] | None = None
) -> tuple[LeftOut, ...]:
    """Return what was not run here, by kind; with the points that were decided it adds up to the whole assignment.

    Args:
        tests: every test of the assignment, as the examiner collected them.
        entries: the results of those that were run.
        elsewhere: in a released folder, the points of tests that were not released, by kind.
    """
    results = {entry.test_id: entry for entry in entries}
    kinds = [(_kind(test, results.get(test.test_id)), test.points) for test in tests]
    here = [
        LeftOut(what, len(points), sum(points, Fraction(0)))
        for what in _ORDER
        if (points := [worth for kind, worth in kinds if kind == what])
    ]
    return (*here, *(LeftOut(what, 0, points) for what, points in (elsewhere or {}).items()))


def sentence(found: Sequence[LeftOut], how_to_train: str) -> str:
    """Return one sentence for students: which tests are not included, and how many points they are worth.

    Args:
        found: what `left_out` returned.
        how_to_train: how to run tests that train as well.
    """
    if not found:
        return "Every test of the assignment was run."
    return f"Not included: {', '.join(_part(part, how_to_train) for part in found)}."


def _kind(test: Entry, result: Entry | None) -> str:
    """Return why the points of a test are not decided here; empty if they are."""
    if test.visibility != "visible" and result is None:
        return HIDDEN
    if result is None:
        return OTHERS
    if result.status is Status.NEEDS_REVIEW:
        return WRITTEN
    if result.status is Status.DEFERRED:
        return TRAINING if "training" in result.needs and "gpu" not in result.needs else GPU
    return OURS if result.status.is_open else ""


def _part(part: LeftOut, how_to_train: str) -> str:
    points = f"{show(part.points)} point{'' if part.points == 1 else 's'}"
    if part.what == WRITTEN:
        return f"{points} {part.what}"
    return f"{points} of {part.what}" + (f" ({how_to_train} runs them)" if part.what == TRAINING else "")
