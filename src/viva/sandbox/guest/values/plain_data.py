"""Convert values for a reply: plain data, and everything that can become plain data, read by its base class's methods.

A student's class may lie through `__eq__`, `__float__` or `__iter__`; none of these is called on a subclass of a plain
type. A subclass of float is read by float's own method, one of list by list's: what arrives is what the object holds.
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import enum
import io
import itertools
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, Iterable, Iterator, List, Mapping, Tuple, Union

import numpy as np

from ..transport.encoding import Deep
from ..transport.library_types import library_type
from ..transport.value_types import CONTAINERS, KEEP, STAND_INS, TYPE_OF, VALUE_TYPES

if TYPE_CHECKING:
    import types

    from ..transport.wire_values import Array

MOST_ITEMS = 10_000
"""The most items that are taken from an iterator; a longer one stays in the box, complete."""

Reader = Callable[[Any], object]
_KINDS = "biufcSUmM"
_islice, _chain = itertools.islice, itertools.chain
_view, _ndarray, _frombuffer, _scalar_bytes = np.ndarray.view, np.ndarray, np.frombuffer, np.generic.tobytes
_to_list, _to_item, _as_array = np.ndarray.tolist, np.generic.item, np.asarray


class PlainData:
    """The `encode` of a reply: one step towards plain data, or the result of `keep` for an object without a plain form.

    | type, and its subclasses                       | arrives as                                          |
    |------------------------------------------------|-----------------------------------------------------|
    | the types in VALUE_TYPES                       | the same                                            |
    | bytearray, memoryview                          | bytes                                               |
    | list, deque, array, range, views, UserList     | list                                                |
    | iterators of up to 10,000 items                | list; longer ones stay, with nothing taken          |
    | tuple, namedtuple, torch.Size                  | tuple                                               |
    | dict, Counter, mappings, model outputs         | dict                                                |
    | dataclass instances, SimpleNamespace           | dict of the fields                                  |
    | set, frozenset                                 | the same                                            |
    | Enum members                                   | their value                                         |
    | numpy arrays, matrices, records                | base array; masked items NaN where that exists      |
    | arrays of objects, if all items are plain      | nested lists                                        |
    | torch tensors, parameters                      | array: detached, dense; bfloat16, float8 as float32 |
    | data frames and series of pandas               | Frame                                               |
    | other types in LIBRARY_TYPES                   | plain values: sparse matrices and images as arrays, |
    |                                                | figures as dicts                                    |
    | whatever else offers `__array__`               | array                                               |
    | paths                                          | str                                                 |
    """

    def __init__(self, keep: Callable[[object], object]) -> None:
        self._keep = keep
        self._readers: Dict[type, Reader] = {}

    def __call__(self, value: Any) -> object:
        """Take one step; the items of the result may be any object again."""
        kind = type(value)
        if kind is Deep:
            return self._keep(value.value)
        reader = self._readers.get(kind)
        if reader is None:
            reader = self._readers[kind] = _reader(kind)
        found = reader(value)
        if type(found) is _Longer:
            return self._keep(found.iterator)
        return self._keep(value) if found is KEEP else found


class _Longer:
    """An iterator with too many items, complete again: the items already taken come first."""

    def __init__(self, iterator: Iterator[object]) -> None:
        self.iterator = iterator


def _reader(kind: type) -> Reader:
    for base, reader in _BY_BASE:
        if issubclass(kind, base):
            return reader
    if issubclass(kind, _torch_class("torch", "Tensor")):
        return _tensor
    if issubclass(kind, _torch_class("torch.nn", "Module")) or issubclass(kind, (type, io.IOBase)):
        return _kept
    row = library_type(kind)
    if row is not None:
        return row.plain
    if dataclasses.is_dataclass(kind):
        return _fields
    for protocol, reader in _BY_PROTOCOL:
        if issubclass(kind, protocol):
            return reader
    return _by_array_protocol if hasattr(kind, "__array__") else _kept


def _torch_class(module: str, name: str) -> Union[type, Tuple[()]]:
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else ()


def _kept(value: object) -> object:
    return KEEP


def _array(value: Array) -> object:
    base = _view(value, _ndarray)
    kind = base.dtype.kind
    if kind == "O":
        return _to_list(base) if all(map(_is_plain, base.flat)) else KEEP
    if base.dtype.fields is not None:
        return _to_list(base)
    if kind not in _KINDS:
        return KEEP
    if kind in "fc" and issubclass(type(value), np.ma.MaskedArray):
        base = base.copy()
        base[np.ma.getmaskarray(value)] = np.nan
    return base


def _is_plain(item: object) -> bool:
    kind = type(item)
    return kind in _EXACT or _reader(kind) is not _kept


def _scalar(value: np.generic) -> object:
    """Read the scalar's memory: a subclass may override the methods that numpy would call."""
    dtype = np.generic.dtype.__get__(value)
    if dtype.kind in _KINDS:
        return _frombuffer(_scalar_bytes(value), dtype)[0] if dtype.itemsize else dtype.type()
    item = _to_item(value) if dtype.fields is not None else KEEP
    return item if type(item) is tuple else KEEP


def _tensor(value: object) -> object:
    torch = sys.modules["torch"]
    with _without_overrides(torch)():
        plain = torch.Tensor.detach(value)
        if plain.layout is not torch.strided:
            plain = plain.to_dense()
        if plain.is_quantized:
            plain = plain.dequantize()
        if plain.dtype is torch.bfloat16 or "float8" in str(plain.dtype):
            plain = plain.float()
        if plain.device.type == "meta":
            return KEEP
        return _view(plain.cpu().resolve_conj().resolve_neg().numpy(), _ndarray)


def _without_overrides(torch: types.ModuleType) -> Callable[[], ContextManager[object]]:
    """Return torch's context in which no `__torch_function__` is called; its name depends on the version."""
    found: Callable[[], ContextManager[object]]
    found = getattr(torch._C, "DisableTorchFunctionSubclass", None) or torch._C.DisableTorchFunction
    return found


def _dict(value: Any) -> Dict[object, object]:
    if issubclass(type(value), collections.OrderedDict):
        return dict(collections.OrderedDict.items(value))
    return dict(dict.items(value))


def _fields(value: Any) -> Dict[str, object]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _take_items(value: Iterable[object]) -> Union[List[object], _Longer]:
    iterator = iter(value)
    items = list(_islice(iterator, MOST_ITEMS + 1))
    return items if len(items) <= MOST_ITEMS else _Longer(_chain(items, iterator))


def _mapping(value: Mapping[object, object]) -> object:
    keys = _take_items(value)
    return {key: value[key] for key in keys} if type(keys) is list else KEEP


def _set(value: Iterable[object]) -> object:
    items = _take_items(value)
    return set(items) if type(items) is list else KEEP


def _by_array_protocol(value: object) -> object:
    found = _as_array(value)
    return _array(found) if type(found) is _ndarray and (found.ndim or found.dtype.kind != "O") else KEEP


_MAPPINGS: List[Dict[Any, Any]] = [{}, collections.OrderedDict()]
_VIEWS = tuple(type(view) for m in _MAPPINGS for view in (m.keys(), m.values(), m.items()))
_EXACT = frozenset({*TYPE_OF, *CONTAINERS, np.ndarray})
# The first base that fits decides: an Enum may also be an int, np.float64 is a float.
_BY_BASE: List[Tuple[Any, Reader]] = [
    (enum.Enum, lambda value: object.__getattribute__(value, "_value_")),
    (np.ndarray, _array),
    (np.generic, _scalar),
    *((row.kind, row.exact) for row in VALUE_TYPES),
    *((row.kind, row.plain) for row in STAND_INS),
    # A whole slice of a list or tuple gives an object of exactly that class.
    (list, lambda value: list.__getitem__(value, slice(None))),
    (tuple, lambda value: tuple.__getitem__(value, slice(None))),
    (dict, _dict),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (_VIEWS, _take_items),
    (os.PathLike, lambda value: os.fspath(value)),
]
_BY_PROTOCOL: List[Tuple[Any, Reader]] = [
    (collections.abc.Mapping, _mapping),
    (collections.abc.Sequence, _take_items),
    (collections.abc.Set, _set),
    (collections.abc.Iterator, _take_items),
]
