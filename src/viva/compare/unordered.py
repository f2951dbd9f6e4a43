"""Compares without regard to order: pairs every expected item with an item of the answer."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from viva.compare.arrays import compare_arrays, disagreeing
from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.normalize import PLAIN_SCALARS, Array, as_array, is_number, plain
from viva.compare.show import show
from viva.model.counting import counted
from viva.model.errors import GraderError

PAIRS_CAP: Final = 200
"""The most items that are compared pairwise; numbers and texts have no such limit."""

Compare = Callable[[object, object, Context], Difference | None]


def compare_unordered(
    actual: Collection[object], expected: Collection[object], context: Context, compare: Compare
) -> Difference | None:
    """Return the difference, or None if some reordering of the answer's items agrees with the expected ones."""
    inner = replace(context, order=False)
    if len(actual) != len(expected):
        return Difference(
            f"has {counted(len(actual), 'item')}; expected {len(expected)}, in any order.", "", actual, expected
        )
    given, wanted = as_array(actual), as_array(expected)
    if given is not None and wanted is not None and given.ndim == wanted.ndim == 1 and wanted.dtype.kind in "biuf":
        return _compare_sorted(given, wanted, inner, actual, expected)
    missing, extra = unmatched(list(actual), list(expected), inner, compare)
    if not missing:
        return None
    text = f"lacks {show(missing[0])} and holds {show(extra[0])} instead (the order does not matter)."
    return Difference(text, "", actual, expected)


def _compare_sorted(
    given: Array, wanted: Array, context: Context, actual: object, expected: object
) -> Difference | None:
    if given.dtype.kind == "c":
        return compare_arrays(given, wanted, context)
    one, other = np.sort(given), np.sort(wanted)
    found = compare_arrays(one, other, context)
    if found is None:
        return None
    bad = next((a, e) for a, e in zip(one.tolist(), other.tolist(), strict=True) if a != e)
    text = f"holds {show(bad[0])} where {show(bad[1])} is expected, both lists put in order."
    return Difference(text, "", actual, expected)


def unmatched(
    actual: list[object], expected: list[object], context: Context, compare: Compare
) -> tuple[list[object], list[object]]:
    """Return the missing items and the extra ones; inexact numbers are paired with tolerance.

    Raises:
        GraderError: so many nested items are expected that comparing all pairs would take too long.
    """
    if len(expected) > PAIRS_CAP and not all(type(plain(v)) in PLAIN_SCALARS for v in expected):
        raise GraderError(f"agree: more than {PAIRS_CAP} nested items are expected in any order; compare them sorted.")
    missing, extra = _exactly_unmatched(actual, expected)
    if len(missing) != len(extra) or len(actual) != len(expected):
        return missing, extra
    if len(missing) > PAIRS_CAP:
        return _pair_sorted(missing, extra, context)
    still_missing = []
    for wanted in missing:
        for position, given in enumerate(extra):
            if _could_agree(given, wanted) and compare(given, wanted, context) is None:
                del extra[position]
                break
        else:
            still_missing.append(wanted)
    return still_missing, extra


def _pair_sorted(missing: list[Any], extra: list[Any], context: Context) -> tuple[list[Any], list[Any]]:
    """Pair many numbers in the order of their size."""
    if not all(isinstance(v, int | float) for v in (*missing, *extra)):
        return missing, extra
    missing, extra = sorted(missing), sorted(extra)
    wanted, given = as_array(missing), as_array(extra)
    if wanted is None or given is None:
        return missing, extra
    wrong = np.flatnonzero(disagreeing(given, wanted, context)[0]).tolist()
    return [missing[at] for at in wrong], [extra[at] for at in wrong]


def _exactly_unmatched(actual: list[object], expected: list[object]) -> tuple[list[object], list[object]]:
    """Remove the pairs that are exactly equal."""
    positions: dict[object, list[int]] = {}
    extra: dict[int, object] = dict(enumerate(plain(v) for v in actual))
    for position, item in extra.items():
        if _is_hashable(item):
            positions.setdefault(item, []).append(position)
    missing = []
    for item in (plain(v) for v in expected):
        if _is_hashable(item) and positions.get(item):
            del extra[positions[item].pop()]
        else:
            missing.append(item)
    return missing, list(extra.values())


def _could_agree(actual: object, expected: object) -> bool:
    """Return False early for scalars of different kinds."""
    if type(actual) not in PLAIN_SCALARS or type(expected) not in PLAIN_SCALARS:
        return True
    return is_number(actual) and is_number(expected)


def _is_hashable(value: object) -> bool:
    if isinstance(value, tuple):
        return _all_hashable(value)
    return type(value) in PLAIN_SCALARS or isinstance(value, frozenset)


def _all_hashable(values: Iterable[object]) -> bool:
    return all(_is_hashable(v) for v in values)
