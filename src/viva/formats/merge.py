"""Merge the results of several passes over one submission: one pass grades what another has left out.

Merging is idempotent (merging the same result again changes nothing) and, where no score differs, commutative. The
files were written by viva and passed on by people: they are read as data, and unrelated results are refused.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeVar

from viva.formats import escaping
from viva.formats.decimal_points import show
from viva.formats.results_json import (
    OPEN_LINE,
    CurveData,
    LeaderboardEntry,
    Provenance,
    Results,
    TestResult,
    open_points,
    with_totals,
)
from viva.model import Status
from viva.model.errors import UsageError
from viva.model.gpu import GpuUse
from viva.model.isolation import Isolation
from viva.model.plain import to_plain
from viva.model.score import in_order

_SEVERAL: Final = " | "
"""Separates the values of a signature's key when two passes have different ones."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merged:
    """Two results as one."""

    results: Results
    taken: tuple[str, ...]
    """Tests whose score comes from the second result."""
    differing: tuple[str, ...]
    """A sentence for each value that differs between the two; the first one's was kept."""


def merge(first: Results, second: Results, names: tuple[str, str] = ("the first", "the second")) -> Merged:
    """Merge two results of the same submission.

    A test that is not graded in one takes the score of the other; one that both have graded keeps the first one's.

    Args:
        names: names of the two for error messages.

    Raises:
        UsageError: they do not belong together; the text says why.
    """
    _check(first, second, names)
    ours, theirs = _by_id(first), _by_id(second)
    order = _united([t.extra_data.test_id for t in first.tests], [t.extra_data.test_id for t in second.tests])
    if order is None:
        order = [t.extra_data.test_id for t in sorted({**theirs, **ours}.values(), key=_place)]
    chosen: list[TestResult] = []
    taken: list[str] = []
    differing: list[str] = []
    for test_id in order:
        one, two = ours.get(test_id), theirs.get(test_id)
        chosen.append(_chosen(one, two))
        if two is not None and chosen[-1] is two and (one is None or _rank(two) < _rank(one)):
            taken.append(test_id)
        elif one is not None and two is not None and _rank(one) == _rank(two) and _mark(one) != _mark(two):
            differing.append(
                f"{escaping.line(test_id)}: {_score_of(one)} in {names[0]}, {_score_of(two)} in {names[1]}; "
                f"{names[0]}'s was kept."
            )
    leaders, more = _leaders(first.leaderboard, second.leaderboard, names)
    joined = _joined(first, second, chosen, leaders, _curves(first, second, chosen))
    return Merged(joined, tuple(taken), (*differing, *more))


def _check(first: Results, second: Results, names: tuple[str, str]) -> None:
    """Refuse results that do not belong together, in one sentence."""
    for result, name in zip((first, second), names, strict=True):
        if not result.extra_data.complete:
            raise UsageError(f"{name} is not complete: grading was ended in the middle; grade that submission again.")
        if len(_by_id(result)) != len(result.tests):
            raise UsageError(f"{name} is not a result of viva: it names a test twice.")
    ours, theirs = first.extra_data, second.extra_data
    for what, one, two in (
        ("submissions (by their content)", ours.content_hash, theirs.content_hash),
        ("assignments", ours.assignment, theirs.assignment),
        ("versions of the assignment", str(ours.version), str(theirs.version)),
        ("seeds", ours.signature.get("seed", "none"), theirs.signature.get("seed", "none")),
    ):
        if one != two:
            raise UsageError(
                f"{names[0]} and {names[1]} are results of different {what}: {_short(one)} and {_short(two)}; "
                "only passes over the same submission can be merged."
            )
    known = _by_id(first)
    for test in second.tests:
        exact = test.extra_data
        before = known[exact.test_id].extra_data.points if exact.test_id in known else exact.points
        if Fraction(before) != Fraction(exact.points):
            raise UsageError(
                f"{names[0]} and {names[1]}: {escaping.line(exact.test_id)} is worth {before} points in one and "
                f"{exact.points} in the other; the assignment has changed: grade both again."
            )


def _joined(
    first: Results,
    second: Results,
    tests: Sequence[TestResult],
    leaders: list[LeaderboardEntry],
    curves: list[CurveData],
) -> Results:
    """Make one result of the chosen tests, with recomputed totals."""
    provenance = _provenance(first.extra_data, second.extra_data).model_copy(update={"curves": curves or None})
    joined = with_totals(first.model_copy(update={"extra_data": provenance}), tests)
    line = open_points(Fraction(joined.extra_data.still_open))
    return joined.model_copy(
        update={
            "execution_time": max(first.execution_time, second.execution_time),
            "output": "\n".join([*_lines(first.output, second.output), *line]),
            "leaderboard": leaders,
        }
    )


def _provenance(first: Provenance, second: Provenance) -> Provenance:
    """Merge the provenance of both passes."""
    environment = _united(first.environment, second.environment)
    return first.model_copy(
        update={
            "environment": environment or sorted({*first.environment, *second.environment}),
            "gpu": _gpu(first.gpu, second.gpu),
            "isolation": min(first.isolation, second.isolation, key=_strength),
            "signature": {
                key: _both(first.signature.get(key, ""), second.signature.get(key, ""))
                for key in _united(list(first.signature), list(second.signature))
                or sorted({*first.signature, *second.signature})
            },
        }
    )


# --- tests


def _by_id(results: Results) -> dict[str, TestResult]:
    return {test.extra_data.test_id: test for test in results.tests}


def _place(test: TestResult) -> tuple[bool, tuple[bool, list[tuple[int, str]]], str]:
    """Return a key that sorts the tests of different results."""
    return test.visibility != "visible", in_order(test.number or ""), test.extra_data.test_id


def _rank(test: TestResult) -> int:
    """Return how far a result is decided: a grade, graded by hand later, a fault on our side, or left out."""
    return Status(test.extra_data.status).merge_rank


def _chosen(one: TestResult | None, two: TestResult | None) -> TestResult:
    """Choose the test with the better rank; of two graded ones the first, of two pending ones regardless of order."""
    if one is None or two is None:
        found = one or two
        assert found is not None  # one of the two results has it
        return found
    if _rank(one) != _rank(two):
        return min(one, two, key=_rank)
    timeless, other = _timeless(one), _timeless(two)
    if timeless == other:
        return min(one, two, key=lambda test: test.extra_data.wall_s)
    return one if _rank(one) == 0 or timeless < other else two


def _timeless(test: TestResult) -> str:
    """Return a test as text without what differs from run to run."""
    data = test.extra_data.model_copy(update={"wall_s": 0.0})
    # Decimals are shares of a total, so they may differ by a unit too; the exact points are in `data`.
    return test.model_copy(update={"extra_data": data, "score": None, "max_score": 0.0}).model_dump_json()


def _mark(test: TestResult) -> tuple[str, Fraction]:
    return test.extra_data.status, Fraction(test.extra_data.earned)


def _score_of(test: TestResult) -> str:
    exact = test.extra_data
    return f"{exact.status.replace('_', ' ')} {show(Fraction(exact.earned))} / {show(Fraction(exact.points))}"


# --- everything except the tests


def _united(first: list[str], second: list[str]) -> list[str] | None:
    """Return the longer of two lists if it contains all of the other; else None."""
    if set(first) == set(second):
        return min(first, second)  # whichever came first on the command line
    if set(second) < set(first):
        return first
    return second if set(first) < set(second) else None


def _both(one: str, two: str) -> str:
    """Return a value of the signature; if the passes have different ones, all of them."""
    return _SEVERAL.join(sorted({*one.split(_SEVERAL), *two.split(_SEVERAL)} - {""}))


def _gpu(first: GpuUse | None, second: GpuUse | None) -> GpuUse | None:
    """Return the GPU of either pass; of two passes on the same GPU the higher peak, of two GPUs the first."""
    if first is None or second is None:
        return first or second
    if replace(first, peak_mib=None) != replace(second, peak_mib=None):
        return first
    return max(first, second, key=lambda gpu: gpu.peak_mib or 0)


def _strength(isolation: Isolation) -> tuple[str, int, str]:
    """Return a key that sorts the weaker isolation first and "none" (no box was needed) last."""
    return isolation.tier, -len(isolation.missing), json.dumps(to_plain(isolation))


def _lines(first: str, second: str) -> list[str]:
    """Merge the text above the tests, without the line about points that were not graded yet."""
    bodies = [
        [line for line in text.splitlines() if not (line.startswith(OPEN_LINE[0]) and line.endswith(OPEN_LINE[1]))]
        for text in (first, second)
    ]
    longer, shorter = sorted(bodies, key=lambda lines: (-len(lines), lines))
    return [*longer, *(line for line in shorter if line not in longer)]


def _leaders(
    first: Sequence[LeaderboardEntry], second: Sequence[LeaderboardEntry], names: tuple[str, str]
) -> tuple[list[LeaderboardEntry], list[str]]:
    """Merge the values of both; add a sentence for each name that has another value in the second."""
    ours, theirs = _grouped(first, lambda x: x.name), _grouped(second, lambda x: x.name)
    order = _united(list(ours), list(theirs)) or sorted({*ours, *theirs})
    differing = [
        f"the leaderboard's {escaping.line(name)!r} differs; {names[0]}'s was kept."
        for name in order
        if name in ours and name in theirs and ours[name] != theirs[name]
    ]
    return [entry for name in order for entry in (ours.get(name) or theirs[name])], differing


def _curves(first: Results, second: Results, chosen: Sequence[TestResult]) -> list[CurveData]:
    """Take each test's curves from the result whose score it took, else from the other."""
    ours = _grouped(first.extra_data.curves or (), lambda curve: curve.test_id)
    theirs = _grouped(second.extra_data.curves or (), lambda curve: curve.test_id)
    from_second = {t.extra_data.test_id for t in chosen if not any(t is own for own in first.tests)}
    found: list[CurveData] = []
    for test_id in dict.fromkeys([*(t.extra_data.test_id for t in chosen), *sorted({*ours, *theirs})]):
        pair = (theirs, ours) if test_id in from_second else (ours, theirs)
        found += pair[0].get(test_id) or pair[1].get(test_id) or []
    return found


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _short(text: str) -> str:
    text = escaping.line(text)
    return text if len(text) <= 40 else f"{text[:12]}…"
