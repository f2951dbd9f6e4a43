"""Convert values to plain data and back, for the wire, the cluster and the records.

A dataclass becomes a dict of its fields by their names, and their types say how they are read back. So a new field of a
score needs nothing here; in what was stored before, it has its default.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache, singledispatch
from pathlib import Path
from sys import intern
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_Reader = Callable[[Any], Any]


@singledispatch
def to_plain(value: Any) -> Any:
    """Return a value as plain data: points become exact text, words of an enumeration their values.

    Args:
        value: a dataclass whose fields hold such dataclasses, tuples, lists, mappings, and plain data.
    """
    names = _field_names(cast("Any", type(value)))
    return {name: to_plain(getattr(value, name)) for name in names} if names else value


@to_plain.register(list)
@to_plain.register(tuple)
def _items_to_plain(items: Any) -> list[Any]:
    return [to_plain(item) for item in items]


@to_plain.register(Mapping)
def _mapping_to_plain(mapping: Any) -> dict[Any, Any]:
    return {key: to_plain(value) for key, value in mapping.items()}


@to_plain.register(Enum)
def _word_to_plain(word: Any) -> Any:
    return word.value


@to_plain.register(Path)
def _path_to_plain(path: Any) -> str:
    return str(path.absolute())


to_plain.register(Fraction, str)


def from_plain(kind: type[T], plain: Any) -> T:
    """Rebuild a value of a dataclass from what `to_plain` returned.

    Its texts are shared with values that were rebuilt before: the scores of a class differ in few of them.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is damaged.
    """
    read: Callable[[Any], T] = _reader_of(cast("Any", kind))
    return read(plain)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


@cache
def _reader_of(kind: Any) -> _Reader:
    """Return the function that reads a value of this type."""
    make_reader = _READERS_OF_GENERICS.get(get_origin(kind))
    if make_reader is not None:
        return make_reader(*get_args(kind))
    if is_dataclass(kind):
        return _reader_of_fields(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return _READERS.get(kind, _read_unchanged)


def _reader_of_fields(kind: Any) -> _Reader:
    readers = {name: _reader_of(hint) for name, hint in get_type_hints(kind).items()}
    return lambda plain: kind(**{name: readers[name](value) for name, value in plain.items()})


def _reader_of_union(*kinds: Any) -> _Reader:
    """Return the reader of a value that may be None; other unions are of plain values."""
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) > 1:
        return _read_unchanged
    read = _reader_of(others[0])
    return lambda value: None if value is None else read(value)


def _reader_of_tuple(*kinds: Any) -> _Reader:
    if kinds[-1] is not Ellipsis:
        return tuple  # of plain values
    read = _reader_of(kinds[0])
    return lambda values: tuple([read(value) for value in values])


def _reader_of_list(kind: Any) -> _Reader:
    read = _reader_of(kind)
    return lambda values: [read(value) for value in values]


def _reader_of_mapping(_: Any, kind: Any) -> _Reader:
    read = _reader_of(kind)
    return lambda mapping: {key: read(value) for key, value in mapping.items()}


@lru_cache
def _read_points(text: str) -> Fraction:
    return Fraction(text)


def _read_unchanged(value: T) -> T:
    return value


_READERS: Final[Mapping[Any, _Reader]] = {str: intern, Fraction: _read_points, Path: Path}
_READERS_OF_GENERICS: Final[Mapping[Any, Callable[..., _Reader]]] = {
    Union: _reader_of_union,
    UnionType: _reader_of_union,
    tuple: _reader_of_tuple,
    list: _reader_of_list,
    dict: _reader_of_mapping,
    Mapping: _reader_of_mapping,
}
