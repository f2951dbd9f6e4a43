"""Values of the key as plain data and back, and what makes two questions the same question."""

import collections
import dataclasses
import hashlib
import struct
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from viva.compare.normalize import is_tensor, plain
from viva.compare.value_kinds import AS_EQUAL, VALUE_KINDS
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.value_types import KEEP, type_of
from viva.sandbox.guest.transport.wire import Code, Frame, WireError, dump, load

_TAG: Final = "\0viva"
"""The first item of a tuple that represents a value without a form on the wire."""
_AS_THEY_ARE: Final = frozenset(kind for kind, row in VALUE_KINDS.items() if row.is_recorded)
_NUMBER: Final = struct.Struct(">Q")


class Unrecordable(Exception):
    """A value that has no plain form, such as an object with methods; the message names its type."""


def packed(value: object) -> bytes:
    """Return a value as bytes that `unpacked` reads.

    Raises:
        Unrecordable: some part of it has no plain form.
    """
    try:
        return b"".join(bytes(part) for part in dump(_plain(value)))
    except (TypeError, WireError) as error:
        raise Unrecordable(str(error)) from error


def unpacked(data: bytes) -> Any:
    """Return the packed value; tuples, sets, arrays and fractions are restored, records have the same fields.

    Raises:
        WireError: the bytes were not packed.
    """
    return _made(load(data))


def digest(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> bytes:
    """Return an identifier of a question by value: what was asked, with which arguments.

    Raises:
        Unrecordable: an argument has no plain form.
    """
    hashed = hashlib.sha256()
    for part in _canonical((name, args, dict(sorted(kwargs.items())))):
        hashed.update(_NUMBER.pack(len(part)))
        hashed.update(part)
    return hashed.digest()


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value
    if kind in (list, set, frozenset):
        return kind(map(_plain, value))
    if kind is tuple:
        return tuple(map(_plain, value))
    if kind is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    if kind is Frame:
        return Frame(*map(_plain, value.parts()))
    if is_tensor(value):
        return plain(value)
    if (plainer := _of_library(value)) is not KEEP:
        return _plain(plainer)
    for name, (is_one, parts, _) in _RECORDS.items():
        if is_one(value):
            return (_TAG, name, *(_plain(part) for part in parts(value)))
    raise Unrecordable(f"{kind.__module__}.{kind.__qualname__}")


def _made(value: Any) -> Any:
    kind = type(value)
    if kind is tuple:
        if len(value) > 1 and type(value[0]) is str and value[0] == _TAG and value[1] in _RECORDS:
            return _RECORDS[value[1]][2](*map(_made, value[2:]))
        return tuple(map(_made, value))
    if kind in (list, set, frozenset):
        return kind(map(_made, value))
    if kind is dict:
        return {_made(key): _made(item) for key, item in value.items()}
    if kind is Frame:
        return Frame(*map(_made, value.parts()))
    return value


def _of_library(value: object) -> Any:
    """Return a value of another library as a plainer one; KEEP for any other value."""
    row, base = library_type(type(value)), type_of(value)
    if row is not None:
        return row.plain(value)
    if base is None or base.kind not in _AS_THEY_ARE or VALUE_KINDS[base.kind].compared != AS_EQUAL:
        return KEEP
    return base.exact(value)


def _is_exactly(kind: type, value: object) -> bool:
    return type(value) is kind


def _is_namedtuple(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def _is_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


@lru_cache
def _record(name: str, fields: tuple[str, ...]) -> Callable[..., object]:
    return dataclasses.make_dataclass(name, fields, frozen=True)


@lru_cache
def _named_tuple(name: str, fields: tuple[str, ...]) -> Callable[..., object]:
    return collections.namedtuple(name, fields)


_Form = tuple[Callable[[Any], bool], Callable[[Any], tuple[Any, ...]], Callable[..., Any]]
_RECORDS: Final[dict[str, _Form]] = {
    "namedtuple": (
        _is_namedtuple,
        lambda v: (type(v).__name__, tuple(v._fields), tuple(v)),
        lambda name, fields, values: _named_tuple(name, fields)(*values),
    ),
    "dataclass": (
        _is_dataclass,
        lambda v: (
            type(v).__name__,
            tuple(f.name for f in dataclasses.fields(v)),
            tuple(getattr(v, f.name) for f in dataclasses.fields(v)),
        ),
        lambda name, fields, values: _record(name, fields)(*values),
    ),
    "Counter": (partial(_is_exactly, collections.Counter), lambda v: (dict(v),), collections.Counter),
    "range": (partial(_is_exactly, range), lambda v: (v.start, v.stop, v.step), range),
    "deque": (partial(_is_exactly, collections.deque), lambda v: (list(v), v.maxlen), collections.deque),
    "dict": (lambda v: isinstance(v, dict), lambda v: (dict(v),), dict),
}


_PARTS: Final = {kind: _RECORDS[kind.__name__][1] for kind in (collections.Counter, range, collections.deque)}


def _canonical(value: Any) -> Iterable[bytes]:
    """Yield parts whose lengths and bytes are equal only for equal values, whatever the order of sets and dicts."""
    kind = type(value)
    yield kind.__qualname__.encode()
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise Unrecordable("an array of objects")
        yield value.dtype.str.encode()
        yield repr(value.shape).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif kind in _AS_THEY_ARE or isinstance(value, np.generic):
        yield value if kind is bytes else repr(value).encode("utf-8", "surrogatepass")
    elif isinstance(value, dict):
        yield from _sorted([[*_canonical(key), *_canonical(item)] for key, item in value.items()])
    elif isinstance(value, set | frozenset):
        yield from _sorted([list(_canonical(item)) for item in value])
    elif isinstance(value, list | tuple):
        yield repr(len(value)).encode()
        for item in value:
            yield from _canonical(item)
    elif kind is range:
        yield repr(value).encode()
    else:
        yield from _canonical_object(value)


def _canonical_object(value: Any) -> Iterable[bytes]:
    kind = type(value)
    if kind is Frame:
        yield from _canonical(value.parts())
    elif is_tensor(value):
        yield from _canonical((str(value.dtype), plain(value)))
    elif kind is Code:
        yield from _canonical((value.expression, value.statements))
    elif kind in _PARTS:
        yield from _canonical(_PARTS[kind](value))
    elif (plainer := _of_library(value)) is not KEEP:
        yield from _canonical(plainer)
    elif _is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _canonical(getattr(value, field.name))
    else:
        raise Unrecordable(f"{kind.__module__}.{kind.__qualname__}")


def _sorted(items: list[list[bytes]]) -> Iterable[bytes]:
    yield repr(len(items)).encode()
    for item in sorted(items):
        yield from item
