"""Walks through the expected value and chooses the comparison for each part."""

from collections import Counter
from collections.abc import Iterable, Sized
from dataclasses import replace
from typing import Any, Final

from viva.compare import masks
from viva.compare.arrays import compare_arrays
from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.frames import compare_frames, values_of
from viva.compare.kinds import of_another_kind
from viva.compare.normalize import PLAIN_SCALARS, Array, as_array, is_number, plain
from viva.compare.numbers import compare_numbers
from viva.compare.show import describe, show
from viva.compare.unordered import compare_unordered, unmatched
from viva.compare.value_kinds import AS_NUMBER, AS_TEXT, kind_of
from viva.model.counting import counted
from viva.model.errors import GraderError
from viva.sandbox.guest.transport.wire import Frame

DEPTH: Final = 64
_FLAT: Final = frozenset({bool, int, str, bytes, type(None)})


def compare(
    actual: object, expected: object, context: Context, convention: masks.Convention | None = None, depth: int = 0
) -> Difference | None:
    """Return the first difference between two values; None if they agree.

    Args:
        actual: the student's value; only the parts that the expected value also has are read.
        expected: the key's value, or the author's.
        context: the author's options.
        convention: how the masks of both values are to be read; None if they are not masks.
        depth: how many containers enclose the values.

    Raises:
        GraderError: the expected value has no plain form, or is nested too deeply.
    """
    expected_counts = isinstance(expected, Counter)
    actual, expected = plain(actual), plain(expected)
    if depth > DEPTH:
        raise GraderError(f"agree: the expected value is nested more than {DEPTH} deep; compare its parts instead.")
    if type(expected) in PLAIN_SCALARS or is_number(expected):
        return _compare_leaf(actual, expected, context)
    if isinstance(expected, Frame):
        return compare_frames(actual, expected, context, compare)
    if isinstance(expected, dict):
        return _compare_dicts(actual, expected, context, convention, depth, counts=expected_counts)
    if isinstance(expected, set | frozenset):
        return _compare_sets(actual, expected, context)
    if isinstance(expected, list | tuple) or _is_array(expected):
        return _compare_sequences(actual, expected, context, convention, depth)
    raise GraderError(f"agree: {describe(expected)} is expected, which cannot be compared; expect plain values.")


def _compare_leaf(actual: Any, expected: Any, context: Context) -> Difference | None:
    row = kind_of(expected)
    if row is None or row.compared == AS_NUMBER:  # a numpy scalar has no row
        return compare_numbers(actual, expected, context)
    if row.compared == AS_TEXT:
        return compare_texts(actual, expected, context)
    if expected is None and actual is not None:
        shown = show(actual) if isinstance(actual, list | tuple | dict) else describe(actual)
        return Difference(f"is {shown}; expected None.", "", actual, expected)
    if type(actual) is not type(expected):
        return of_another_kind(actual, expected)
    if actual == expected:
        return None
    return Difference(f"is {show(actual)}; expected {show(expected)}.", "", actual, expected)


def _compare_sequences(
    actual: Any, expected: Any, context: Context, convention: masks.Convention | None, depth: int
) -> Difference | None:
    if isinstance(actual, Frame):
        actual = values_of(actual)
    if not isinstance(actual, list | tuple) and not _is_array(actual):
        return of_another_kind(actual, expected)
    if context.order:
        return compare_unordered(actual, expected, context, compare)
    if not _is_array(actual) or not _is_array(expected):
        if _same_flat(actual, expected):
            return None
        if len(actual) != len(expected):
            return _other_length(actual, expected)
    wanted = as_array(expected)
    given = as_array(actual) if wanted is not None and (wanted.size or _is_array(expected)) else None
    if wanted is not None and given is not None and not _holds_single_elements(actual, given, wanted):
        return _compare_arrays(given, wanted, context, convention)
    for position, (one, other) in enumerate(zip(actual, expected, strict=True)):
        if (found := compare(one, other, context, convention, depth + 1)) is not None:
            return found.below(f"[{position}]")
    return None


def _compare_arrays(
    given: Array, wanted: Array, context: Context, convention: masks.Convention | None
) -> Difference | None:
    if convention is None:
        return compare_arrays(given, wanted, context)
    return masks.compare_masks(given, wanted, convention)


def _holds_single_elements(actual: object, given: Array, wanted: Array) -> bool:
    """Return whether the answer lists one-element arrays where numbers are expected: each counts as its number."""
    return wanted.ndim == 1 and given.ndim > 1 and given.size == wanted.size and not _is_array(actual)


def _same_flat(actual: Iterable[object], expected: Iterable[object]) -> bool:
    """Return True early for equal flat lists of exact items, which most answers are; others get the full comparison."""
    if _is_array(expected) or _is_array(actual):
        return False
    if not _FLAT.issuperset(map(type, expected)) or not _FLAT.issuperset(map(type, actual)):
        return False
    return list(actual) == list(expected)


def _other_length(actual: Sized, expected: Sized) -> Difference:
    if not len(actual):
        return Difference(f"is empty; expected {describe(expected)}.", "", actual, expected)
    wanted = as_array(expected)
    if wanted is not None and wanted.size and not _is_much_longer(actual, expected):
        given = as_array(actual)
        if given is not None and (found := compare_arrays(given, wanted, Context())) is not None:
            return found
    items = counted(len(actual), "item")
    return Difference(f"has {items}: {show(actual)}; expected {len(expected)}: {show(expected)}.", "", actual, expected)


def _compare_dicts(
    actual: object,
    expected: dict[object, object],
    context: Context,
    convention: masks.Convention | None,
    depth: int,
    *,
    counts: bool,
) -> Difference | None:
    if not isinstance(actual, dict):
        return of_another_kind(actual, expected)
    if counts:  # in a Counter, what is not there has been counted zero times
        actual, expected = _counted(actual), _counted(expected)
    extra = [key for key in actual if key not in expected]
    for key in expected:
        if key not in actual:
            other = f" It has {_keys(extra)} instead." if extra else ""
            return Difference(f"has no item {show(key)}.{other}", "", actual, expected)
    if extra:
        return Difference(f"has {_keys(extra)}, which is not expected.", "", actual, expected)
    for key, wanted in expected.items():
        if (found := compare(actual[key], wanted, context, convention, depth + 1)) is not None:
            # The answer has been returned: a None in it tells of no missing `return`.
            return replace(found.below(f"[{show(key)}]"), advice="" if found.actual is None else found.advice)
    return None


def _counted(value: dict[object, object]) -> dict[object, object]:
    return {k: v for k, v in value.items() if not (type(v) is int and v == 0)}


def _keys(keys: list[object]) -> str:
    shown = ", ".join(show(k, 30) for k in keys[:3]) + (", …" if len(keys) > 3 else "")
    return f"the item {shown}" if len(keys) == 1 else f"{len(keys)} items ({shown})"


def _compare_sets(actual: Any, expected: Any, context: Context) -> Difference | None:
    if not isinstance(actual, list | tuple | set | frozenset) and not _is_array(actual):
        return of_another_kind(actual, expected)
    if isinstance(actual, set | frozenset) and actual == expected:
        return None
    if _is_much_longer(actual, expected):
        return Difference(
            f"has {counted(len(actual), 'item')}; expected a set of {len(expected)}.", "", actual, expected
        )
    items = [plain(v) for v in actual]
    if len(items) > len(expected) and (twice := _repeated(items)) is not None:
        return Difference(f"holds {show(twice)} more than once; expected a set.", "", actual, expected)
    missing, extra = unmatched(items, list(expected), context, compare)
    if not missing and not extra:
        return None
    parts = [f"lacks {_some(missing)}"] if missing else []
    parts += [f"holds {_some(extra)}, which is not expected"] if extra else []
    return Difference(f"{' and '.join(parts)}.", "", actual, expected)


def _some(items: list[object]) -> str:
    return show(items[0]) + (f" (and {len(items) - 1} more)" if items[1:] else "")


def _is_much_longer(actual: Sized, expected: Sized) -> bool:
    """Return whether reading every item of the answer could cost more than the author foresaw."""
    return len(actual) > 4 * len(expected) + 1000


def _repeated(items: list[object]) -> object:
    seen: set[object] = set()
    for item in items:
        try:
            if item in seen:
                return item
            seen.add(item)
        except TypeError:  # a list among the items
            return None
    return None


def _is_array(value: object) -> bool:
    return hasattr(value, "ndim") and not is_number(value)


_AROUND: Final = 12
_SHORT: Final = 40
_MUCH_LONGER: Final = 10

Text = str | bytes


def compare_texts(actual: object, expected: Text, context: Context) -> Difference | None:
    """Return the difference, or None if the texts are the same; a number never equals a text."""
    if not isinstance(actual, type(expected)):
        return of_another_kind(actual, expected)
    if actual == expected or (context.spaces and _words(actual, expected) == expected.split()):
        return None
    text = f"is {show(actual)}; expected {show(expected)}.{_near_miss(actual, expected)}"
    if max(len(actual), len(expected)) > _SHORT:
        at = _first_difference(actual, expected)
        start = max(0, at - _AROUND)
        seen, wanted = actual[start : at + _AROUND], expected[start : at + _AROUND]
        text = f"differs from the expected text at character {at}: {seen!r}, expected {wanted!r}."
        text += _near_miss(actual, expected)
    return Difference(text, "", actual, expected)


def _words(actual: Text, expected: Text) -> list[str] | list[bytes] | None:
    """Return the answer's words; None for a text that is too long for white space to be the difference."""
    return actual.split() if len(actual) <= _MUCH_LONGER * len(expected) + 10_000 else None


def _near_miss(actual: Text, expected: Text) -> str:
    if len(actual) > _MUCH_LONGER * len(expected) + 1000:
        return ""
    if actual.split() == expected.split():
        return " Only white space differs."
    if actual.lower() == expected.lower():
        return " Only upper and lower case differ."
    return ""


def _first_difference(actual: Text, expected: Text) -> int:
    shorter = min(len(actual), len(expected))
    for at in range(shorter):
        if actual[at] != expected[at]:
            return at
    return shorter
