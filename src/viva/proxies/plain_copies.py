"""Copies of containers and arrays, ten times as fast as by `copy.deepcopy`."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

_CONTAINERS: Final = frozenset({list, tuple, set, frozenset})
_THEMSELVES: Final = frozenset({int, float, bool, str, bytes, type(None)})
"""Types whose values are copies of themselves."""


def copy_plain(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a copy of containers, named tuples and arrays; what they hold twice is copied twice.

    Args:
        value: what is copied.
        other: returns a copy of anything else; of numbers and texts, which are their own copies, it need not be asked.
    """
    kind = type(value)
    if kind in _CONTAINERS:
        if _THEMSELVES.issuperset(map(type, value)):
            return kind(value)
        return kind(copy_plain(item, other) for item in value)
    if kind is dict:
        if _THEMSELVES.issuperset(map(type, value)) and _THEMSELVES.issuperset(map(type, value.values())):
            return dict(value)
        return {copy_plain(name, other): copy_plain(item, other) for name, item in value.items()}
    if is_plain_array(value):
        return value.copy(order="K")
    if is_named_tuple(value):
        return value._make(copy_plain(item, other) for item in value)
    return other(value)


def is_plain_array(value: Any) -> bool:
    """Return whether a value is an array that holds no objects."""
    return type(value) is np.ndarray and not value.dtype.hasobject


def is_named_tuple(value: Any) -> bool:
    """Return whether a value is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_make")
