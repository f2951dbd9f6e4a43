"""Convert values to plain data and back, for the wire, the cluster and the records.

A dataclass becomes a dict of its fields by their names, and their types say how they are read back. So a new field of a
score needs nothing here; in what was stored before, it has its default.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from sys import intern
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_PLAIN: Final = frozenset((str, bytes, int, float, bool, NoneType))


def to_plain(value: Any) -> Any:
    """Return a value as plain data: points become exact text, words of an enumeration their values.

    Args:
        value: a dataclass whose fields hold such dataclasses, tuples, lists, mappings, and plain data.
    """
    kind: Any = type(value)
    if kind in _PLAIN:  # most values
        return value
    if is_dataclass(value):
        return {name: to_plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def from_plain(kind: type[T], plain: Any) -> T:
    """Rebuild a value of a dataclass from what `to_plain` returned.

    Its texts are shared with values that were rebuilt before: the scores of a class differ in few of them.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is damaged.
    """
    reader: Callable[[Any], T] = _reader(cast("Any", kind))
    return reader(plain)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that reads a value of this type."""
    parts = get_args(kind)
    make: Callable[..., Any] = kind
    if get_origin(kind) in (Union, UnionType):
        return _reader_of_union(parts)
    if get_origin(kind) is tuple:
        return _reader_of_tuple(parts)
    if get_origin(kind) is list:
        read_item = _reader(parts[0])
        return lambda values: [read_item(value) for value in values]
    if get_origin(kind) in (dict, Mapping):
        read_value = _reader(parts[1])
        return lambda pairs: {key: read_value(value) for key, value in pairs.items()}
    if is_dataclass(kind):
        readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
        return lambda plain: make(**{name: readers[name](value) for name, value in plain.items()})
    if kind is str:
        return intern
    if kind is Fraction:
        return _read_points
    return kind if isinstance(kind, type) and issubclass(kind, Enum | Path) else _read_unchanged


def _reader_of_union(kinds: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return the reader of a value that may be None; other unions are of plain values."""
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) > 1:
        return _read_unchanged
    read = _reader(others[0])
    return lambda value: None if value is None else read(value)


def _reader_of_tuple(kinds: tuple[Any, ...]) -> Callable[[Any], Any]:
    if kinds[-1] is not Ellipsis:
        return tuple  # of plain values
    read = _reader(kinds[0])
    return lambda values: tuple([read(value) for value in values])


@lru_cache
def _read_points(text: str) -> Fraction:
    return Fraction(text)


def _read_unchanged(value: T) -> T:
    return value
