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


def find_left_out(
    tests: Sequence[Entry], entries: Sequence[Entry], elsewhere: Mapping[str, Fraction] | None = None
) -> tuple[LeftOut, ...]:
    """Return what was not run here, by kind; with the points that were decided it adds up to the whole assignment.

    Args:
        tests: every test of the assignment, as the examiner collected them.
        entries: the results of those that were run.
        elsewhere: in a released folder, the points of tests that were not released, by kind.
    """
    results = {entry.test_id: entry for entry in entries}
    points: dict[str, list[Fraction]] = {kind: [] for kind in _ORDER}
    for test in tests:
        if kind := _find_reason(test, results.get(test.test_id)):
            points[kind].append(test.points)
    here = [LeftOut(kind, len(worth), sum(worth, Fraction(0))) for kind, worth in points.items() if worth]
    return (*here, *(LeftOut(what, 0, worth) for what, worth in (elsewhere or {}).items()))


def write_sentence(left_out: Sequence[LeftOut], how_to_train: str) -> str:
    """Return one sentence for students: which tests are not included, and how many points they are worth.

    Args:
        left_out: what `find_left_out` returned.
        how_to_train: how to run tests that train as well.
    """
    if not left_out:
        return "Every test of the assignment was run."
    parts = []
    for part in left_out:
        points = f"{show(part.points)} point{'' if part.points == 1 else 's'}"
        if part.what == WRITTEN:
            parts.append(f"{points} {part.what}")
        elif part.what == TRAINING:
            parts.append(f"{points} of {part.what} ({how_to_train} runs them)")
        else:
            parts.append(f"{points} of {part.what}")
    return f"Not included: {', '.join(parts)}."


def _find_reason(test: Entry, result: Entry | None) -> str:
    """Return why the points of a test are not decided here; empty if they are."""
    if result is None:
        return HIDDEN if test.visibility != "visible" else OTHERS
    if result.status is Status.NEEDS_REVIEW:
        return WRITTEN
    if result.status is Status.DEFERRED:
        return TRAINING if "training" in result.needs and "gpu" not in result.needs else GPU
    return OURS if result.status.is_open else ""
