"""Attention masks in any convention: 1 masked, 1 visible, bool, or 0 and -inf.

The diagonal shows what 1 means, since a token always sees itself. One convention holds for the whole answer: an answer
of several masks cannot use different ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from viva.compare.arrays import compare_arrays, first
from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.normalize import Array, as_array, plain
from viva.compare.show import index, percent, show

VERY_NEGATIVE: Final = -1e4
"""An additive mask may use a large negative number (-1e9, the dtype's minimum) instead of -inf."""
_DEPTH: Final = 8


@final
@dataclass(frozen=True, slots=True)
class Convention:
    """What 1 means in the 0/1 masks of both sides."""

    actual_one_is_visible: bool
    expected_one_is_visible: bool


def find_convention(actual: object, expected: object) -> Convention:
    """Read both conventions: by the diagonal of square masks, else the reading that agrees with more cells."""
    pairs = list(_pairs(actual, expected, 0))
    ours = _by_diagonal([a for a, _ in pairs])
    theirs = _by_diagonal([e for _, e in pairs])
    readings = [
        Convention(one, other)
        for one in ((False, True) if ours is None else (ours,))
        for other in ((False, True) if theirs is None else (theirs,))
    ]
    return max(readings, key=lambda reading: _agreeing(pairs, reading)) if len(readings) > 1 else readings[0]


def compare_masks(actual: Array, expected: Array, convention: Convention) -> Difference | None:
    """Return the first difference, or None if the same positions are visible in both."""
    if actual.shape != expected.shape:
        return compare_arrays(actual, expected, Context())
    wanted = visible(expected, one_is_visible=convention.expected_one_is_visible)
    if wanted is None:  # not every array next to a mask is one
        return compare_arrays(actual, expected, Context())
    given = visible(actual, one_is_visible=convention.actual_one_is_visible)
    if given is None:
        where = first(~_is_mark(actual))
        text = (
            f"holds {show(actual[where].item())} at {index(where)}; "
            "expected a mask of 0 and 1, True and False, or 0 and -inf."
        )
        return Difference(text, "", actual, expected)
    bad = given != wanted
    count = int(np.count_nonzero(bad))
    if not count:
        return None
    where = first(bad)
    words = ("masked", "visible") if wanted[where] else ("visible", "masked")
    reading = _reading(actual, one_is_visible=convention.actual_one_is_visible)
    text = (
        f"differs from the expected mask at {count} of {bad.size} positions ({percent(count, bad.size)}), first at "
        f"{index(where)}: {words[0]}, expected {words[1]}{reading}."
    )
    return Difference(text, "", given, wanted)


def visible(mask: Array, *, one_is_visible: bool) -> Array | None:
    """Return the positions that attention may read, as bool; None for what is not a mask."""
    if mask.dtype.kind == "c" or not bool(np.all(_is_mark(mask))):
        return None
    if _is_additive(mask):
        return np.asarray(mask == 0)
    return np.asarray((mask == 1) == one_is_visible)


def _is_mark(mask: Array) -> Array:
    if mask.dtype.kind == "c":
        return np.zeros(mask.shape, dtype=bool)
    very_negative = mask <= VERY_NEGATIVE if mask.dtype.kind in "if" else False
    return np.asarray((mask == 0) | (mask == 1) | very_negative)


def _is_additive(mask: Array) -> bool:
    return mask.dtype.kind in "if" and bool(np.any(mask <= VERY_NEGATIVE)) and not bool(np.any(mask == 1))


def _by_diagonal(masks: list[Array]) -> bool | None:
    """Return whether 1 means visible, as the diagonals show; constant masks count only if no other mask decides."""
    votes: dict[bool, set[bool]] = {True: set(), False: set()}
    for mask in masks:
        if (
            mask.ndim < 2
            or mask.shape[-1] != mask.shape[-2]
            or not mask.size
            or visible(mask, one_is_visible=True) is None
        ):
            continue
        diagonal = np.diagonal(mask, axis1=-2, axis2=-1)
        if _is_additive(mask) or not bool(np.all(diagonal == diagonal.flat[0])):
            continue
        varied = bool(np.any(mask != mask.flat[0]))
        votes[varied].add(bool(diagonal.flat[0] == 1))
    decisive = votes[True] or votes[False]
    return next(iter(decisive)) if len(decisive) == 1 else None


def _agreeing(pairs: list[tuple[Array, Array]], reading: Convention) -> int:
    """Return how many cells agree under a reading of both sides."""
    count = 0
    for actual, expected in pairs:
        given = visible(actual, one_is_visible=reading.actual_one_is_visible)
        wanted = visible(expected, one_is_visible=reading.expected_one_is_visible)
        if given is not None and wanted is not None:
            count += int(np.count_nonzero(given == wanted))
    return count


def _pairs(actual: object, expected: object, depth: int) -> Iterator[tuple[Array, Array]]:
    """Yield the arrays that are at the same place in both values."""
    actual, expected = plain(actual), plain(expected)
    if depth > _DEPTH:
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in expected:
            if key in actual:
                yield from _pairs(actual[key], expected[key], depth + 1)
        return
    if not isinstance(expected, list | tuple | np.ndarray) or not isinstance(actual, list | tuple | np.ndarray):
        return
    if len(actual) != len(expected):  # nothing else can agree, and checking it should cost nothing
        return
    wanted = as_array(expected)
    given = as_array(actual) if wanted is not None else None
    if wanted is not None and given is not None:
        if given.shape == wanted.shape:
            yield given, wanted
    else:
        for one, other in zip(actual, expected, strict=True):
            yield from _pairs(one, other, depth + 1)


def _reading(mask: Array, *, one_is_visible: bool) -> str:
    if _is_additive(mask) or mask.dtype.kind == "b":
        return ""
    return f" (1 was read as {'visible' if one_is_visible else 'masked'} in your answer)"
