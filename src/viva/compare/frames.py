"""Compares data frames and series: labels first, then the rows."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.kinds import of_another_kind
from viva.compare.normalize import as_array, is_number, plain
from viva.compare.show import show
from viva.compare.unordered import compare_unordered
from viva.model.counting import counted
from viva.sandbox.guest.transport.wire import Frame

_INDEX_ADVICE: Final = "Is a `reset_index` or a `set_index` missing, or too many?"

Compare = Callable[[object, object, Context], Difference | None]


def compare_frames(actual: object, expected: Frame, context: Context, compare: Compare) -> Difference | None:
    """Return the first difference, or None if the frames agree.

    The order of columns does not count, nor do the names of a series or an index, nor how a missing value is written.
    The index counts if the expected one does more than number the rows.
    """
    if not isinstance(actual, Frame):
        if expected.is_series and expected.index is None and isinstance(actual, list | tuple | np.ndarray):
            return compare(actual, _comparable(expected.data[0]), context)
        return of_another_kind(actual, expected)
    if actual.is_series != expected.is_series:
        return of_another_kind(actual, expected)
    by_label, wanted = _by_label(actual), _by_label(expected)
    if not expected.is_series and (found := _labels(by_label, wanted, actual, expected)) is not None:
        return found
    if len(actual) != len(expected):
        rows = f"has {counted(len(actual), _item(actual))}; expected {len(expected)}."
        return Difference(rows, "", actual, expected)
    indexed = expected.index is not None and not context.index
    if indexed and actual.index is None:
        text = f"has no index of its own; expected the index {show(_comparable(expected.row_labels))}."
        return Difference(text, "", actual, expected, _INDEX_ADVICE)
    if context.order:
        return _compare_rows(by_label, wanted, actual, expected, context, compare, indexed=indexed)
    if indexed and (found := compare(_index(actual), _index(expected), context)) is not None:
        return replace(found.below(".index"), advice=found.advice or _INDEX_ADVICE)
    return _compare_columns(by_label, wanted, context, compare)


def values_of(frame: Frame) -> list[Any]:
    """Return what a frame holds, as lists: what it is where a list or an array is expected."""
    columns = [_comparable(column) for column in frame.data]
    return list(columns[0]) if frame.is_series else [list(row) for row in zip(*columns, strict=True)]


def _item(frame: Frame) -> str:
    return "item" if frame.is_series else "row"


def _by_label(frame: Frame) -> dict[Hashable, Any]:
    """Return the columns by label; of several with one label each gets a number as well. A series has no labels."""
    found: dict[Hashable, Any] = {}
    times: Counter[Hashable] = Counter()
    labels = [""] if frame.is_series else map(_label, frame.columns)
    for label, column in zip(labels, frame.data, strict=True):
        found[(label, times[label]) if times[label] else label] = _comparable(column)
        times[label] += 1
    return found


def _label(label: object) -> Hashable:
    """Return a label as it is compared: 1 and 1.0 are equal, as in pandas."""
    found = tuple(map(_label, label)) if isinstance(label, tuple) else plain(label)
    return found if isinstance(found, Hashable) else repr(found)


def _labels(
    actual: Collection[Hashable], expected: Collection[Hashable], frame: Frame, wanted: Frame
) -> Difference | None:
    missing = [label for label in expected if label not in actual]
    extra = [label for label in actual if label not in expected]
    if missing:
        other = f" It has {_columns(extra)} instead." if extra else ""
        return Difference(f"has no column {show(missing[0])}.{other}", "", frame, wanted)
    if extra:
        return Difference(f"has {_columns(extra)}, which is not expected.", "", frame, wanted)
    return None


def _columns(labels: Sequence[Hashable]) -> str:
    shown = ", ".join(show(label, 30) for label in labels[:3]) + (", …" if len(labels) > 3 else "")
    return f"the column {shown}" if len(labels) == 1 else f"{len(labels)} columns ({shown})"


def _compare_columns(
    actual: dict[Hashable, Any], expected: dict[Hashable, Any], context: Context, compare: Compare
) -> Difference | None:
    for label, wanted in expected.items():
        found = _missing(actual[label], wanted) or compare(actual[label], wanted, context)
        if found is not None:
            return found.below(f"[{show(label)}]" if len(expected) > 1 or label else "")
    return None


def _missing(actual: Any, expected: Any) -> Difference | None:
    """Return the first place where only the answer has no number."""
    if not all(isinstance(column, np.ndarray) for column in (actual, expected)):
        return None
    places = np.flatnonzero(np.isnan(actual) & ~np.isnan(expected))
    if not len(places):
        return None
    wanted = expected[places[0]]
    return Difference(f"is missing; expected {show(wanted)}.", f"[{places[0]}]", None, wanted)


def _compare_rows(
    actual: dict[Hashable, Any],
    expected: dict[Hashable, Any],
    frame: Frame,
    wanted: Frame,
    context: Context,
    compare: Compare,
    *,
    indexed: bool,
) -> Difference | None:
    """Compare rows in any order, together with their labels if these count."""
    if len(expected) == 1 and not indexed:
        [given], [column] = [actual[label] for label in expected], expected.values()
        return compare_unordered(given, column, context, compare)
    columns = [[_index(frame)] if indexed else [], [_index(wanted)] if indexed else []]
    for label, column in expected.items():
        columns[0].append(actual[label])
        columns[1].append(column)
    one, other = (list(zip(*(map(plain_or_none, column) for column in each), strict=True)) for each in columns)
    return compare_unordered(one, other, context, compare)


def plain_or_none(item: object) -> object:
    """Return an item of a column in plain form; None for a missing one, however it is written."""
    found = plain(item)
    return None if isinstance(found, float) and found != found else found


def _index(frame: Frame) -> Any:
    return _comparable(frame.row_labels)


def _comparable(column: Any) -> Any:
    """Return a column as it is compared: an array of numbers with NaN for what is missing, or a list with None."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufc":
        return column
    read: Any = plain(column)
    items = list(map(plain_or_none, read))
    numbers = [item for item in items if item is not None]
    if not all(map(is_number, numbers)):
        return items
    array = as_array([np.nan if item is None else item for item in items] if len(numbers) < len(items) else items)
    return items if array is None else array
