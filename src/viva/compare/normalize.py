"""The plain form in which both sides are compared; values that only look different have the same form.

These are plain: the types of VALUE_KINDS that are compared as they are, list, tuple, dict, set, frozenset, numpy arrays
of numbers with one dimension or more, numpy scalars of a precision that Python's float does not have, and frames.
Everything else becomes one of these or an `Opaque`, which equals nothing.
"""

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final, final

import numpy as np

from viva.compare.value_kinds import AS_NUMBER, VALUE_KINDS
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.value_types import CONTAINERS, KEEP, type_of
from viva.sandbox.guest.transport.wire import Frame, Ref

PLAIN_SCALARS: Final = frozenset(kind for kind, row in VALUE_KINDS.items() if row.normal is None)
_PLAIN: Final = PLAIN_SCALARS | CONTAINERS | {Frame}
_NORMALISED: Final = tuple((kind, row.normal) for kind, row in VALUE_KINDS.items() if row.normal is not None)
_NUMBERS: Final = (*(kind for kind in PLAIN_SCALARS if VALUE_KINDS[kind].compared == AS_NUMBER), np.number)
_EXACT_IN_PYTHON: Final = (np.bool_, np.integer, np.float64, np.complex128, np.str_, np.bytes_)
_ITERATOR_CAP: Final = 10_000
_ITEMS: Final = 1_000_000
_DEPTH: Final = 32

Array = np.ndarray[Any, Any]


@final
@dataclass(frozen=True, slots=True)
class Opaque:
    """An object without a plain form: something that stayed in the student's process."""

    type_name: str


def plain(value: object) -> object:
    """Return the value itself in plain form; its items become plain when they are compared."""
    if type(value) in _PLAIN:
        return value
    if type(value) is np.ndarray:
        return _plain_array(value)
    if isinstance(value, np.generic):
        return _plain_scalar(value)
    for kind, normal in _NORMALISED:
        if isinstance(value, kind):
            return normal(value)
    return _plain_object(value)


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor of torch; torch is not imported."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def as_array(value: object) -> Array | None:
    """Return a list, tuple or array of numbers as one array; None for what is not rectangular or holds other values."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list | tuple) or not _only_numbers(value, 0):
        return None
    try:
        array = np.array(value)
    except (ValueError, OverflowError, TypeError):  # ragged, or a number that no dtype holds
        return None
    return array if array.dtype.kind in "biufc" else None


def is_number(value: object) -> bool:
    """Return True for one number in plain form, bool included."""
    return isinstance(value, _NUMBERS)


def one_number(value: object) -> object:
    """Return the number of a one-element array (`torch.tensor([0.5])`, `keepdim=True`); other values as they are."""
    return plain(value.reshape(())[()]) if isinstance(value, np.ndarray) and value.size == 1 else value


def _only_numbers(value: Sequence[Any], depth: int) -> bool:
    if depth > _DEPTH:
        return False
    for kind in set(map(type, value)):
        if kind is bool or kind is int or kind is float or kind is complex:
            continue
        if issubclass(kind, np.number | np.bool_):
            continue
        if kind is np.ndarray:
            if any(type(v) is np.ndarray and v.dtype.kind not in "biufc" for v in value):
                return False
        elif kind is list or kind is tuple:
            if not all(_only_numbers(v, depth + 1) for v in value if type(v) is kind):
                return False
        else:
            return False
    return True


def _plain_array(value: Array) -> object:
    kind = value.dtype.kind
    if kind in "biufc":
        return plain(value[()]) if value.ndim == 0 else value
    if value.size > _ITEMS:  # one list item for every letter of a 256 MB array would not fit
        return Opaque(f"array of {value.dtype}")
    return _times(value).tolist() if kind in "mM" else value.tolist()


def _plain_scalar(value: np.generic) -> object:
    if isinstance(value, _EXACT_IN_PYTHON):
        return value.item()
    return plain(_times(value).item()) if value.dtype.kind in "mM" else value


def _times(value: Any) -> Any:
    """Return dates and durations in a unit that `tolist` and `item` make Python's own from; else as texts."""
    try:
        return value.astype(f"{value.dtype.kind}8[us]")
    except TypeError:  # a number of months is no duration
        return value.astype(str)


def _plain_object(value: Any) -> object:
    # The class is inspected, never the object: reading an attribute of a handle would ask the box.
    if type(value) is Ref or hasattr(type(value), "type_name"):
        name = str(value.type_name)[:80]  # the student's process says so
        return Opaque("".join(c if c.isprintable() else "?" for c in name))
    if isinstance(value, Enum):
        return plain(value.value)
    if (row := type_of(value)) is not None:
        exact = row.exact(value)
        return Opaque(type(value).__name__[:80]) if exact is KEEP else exact
    if isinstance(value, np.ndarray):
        return _plain_array(np.asarray(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, SimpleNamespace):
        return dict(vars(value))
    return _plain_collection(value)


def _plain_collection(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(value)
    if isinstance(value, KeysView | ValuesView | ItemsView):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return set(value)
    if isinstance(value, Sequence):
        return list(value)
    if isinstance(value, Iterator):
        return list(islice(value, _ITERATOR_CAP))
    return _plain_of_library(value)


def _plain_of_library(value: Any) -> object:
    kind = type(value)
    if is_tensor(value):
        tensor = value.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            tensor = tensor.float()
        return _plain_array(tensor.numpy())
    if (row := library_type(kind)) is not None and (found := row.plain(value)) is not KEEP:
        return plain(found)
    return Opaque(kind.__name__[:80])
