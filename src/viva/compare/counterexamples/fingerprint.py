"""Recognises equal questions: by value, as far as that is certain.

`agree_on` stores the examples that it drew for a test, and the key's answers, for the next submission. A test creates
its strategies and small functions again each time it runs, so they are recognised by what they are made of: code,
closure, arguments. Where that is not certain, nothing is stored: this costs time but is never wrong.
"""

import enum
import types
from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from viva.compare.normalize import Array
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.value_types import VALUE_TYPES, itself
from viva.sandbox.guest.transport.wire import Code, Frame

_VALUES: Final = {
    **{row.kind: row.told_by for row in VALUE_TYPES if row.recorded},
    range: itself,
    types.CodeType: itself,
}
_OPEN: Final = ("hypothesis.", "viva.proxies.key")
"""Modules of classes whose objects are defined by their attributes: strategies, and functions of a key."""
_WITH_MEMORY: Final = "viva.proxies.key_memory"
"""Its classes differ from their bases only in a memory of answers."""
# What hypothesis works out about a strategy when it is first used, and the memory of a key: both follow from the rest.
_DERIVED: Final = frozenset(
    {
        "_LazyStrategy__representation",
        "_LazyStrategy__wrapped_strategy",
        "_OneOfStrategy__branch_sampler",
        "_OneOfStrategy__element_strategies",
        "_OneOfStrategy__in_branches",
        "_SearchStrategy__label",
        "_branches_lock",
        "_cached_repr",
        "_memory",
        "_unwrapped",
        "validate_called",
    }
)
_NODES: Final = 5_000
_ARRAY_BYTES: Final = 1 << 20


class Unrecognised(Exception):
    """Something whose value cannot be determined."""


def fingerprint(value: object) -> Hashable:
    """Return a hashable that is equal for equal values only.

    Raises:
        Unrecognised: the value holds something that cannot be compared by value: a generator, an open file, a handle.
    """
    return _Walk().of(value)


class _Walk:
    def __init__(self) -> None:
        self._left = _NODES
        self._around: set[int] = set()

    def of(self, value: object) -> Hashable:
        self._left -= 1
        kind = type(value)
        if kind in _VALUES:
            return kind, _VALUES[kind](value)
        if self._left < 0 or id(value) in self._around:
            raise Unrecognised(kind.__name__)
        self._around.add(id(value))
        try:
            return _without_memory(kind).__qualname__, self._inner(value)
        finally:
            self._around.discard(id(value))

    def _inner(self, value: Any) -> Hashable:
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, type):
            return value.__module__, value.__qualname__, id(value)  # kept alive by the stored strategies
        if type(value) in (list, tuple):
            return tuple(self.of(v) for v in value)
        if type(value) in (set, frozenset):
            return frozenset(self.of(v) for v in value)
        if type(value) is dict:
            return tuple((self.of(k), self.of(v)) for k, v in value.items())
        if isinstance(value, np.ndarray | np.generic):
            return self._array(np.asarray(value))
        if (row := library_type(type(value))) is not None and row.module == "pandas":
            return self.of(row.plain(value))
        if isinstance(value, Code):
            return value.expression, value.statements
        if isinstance(value, Frame):
            return self.of(value.parts())
        if isinstance(value, enum.Enum):
            return type(value).__module__, value.name
        return self._code(value)

    def _array(self, value: Array) -> Hashable:
        if value.dtype.hasobject or value.nbytes > _ARRAY_BYTES:
            raise Unrecognised("ndarray")
        return value.dtype.str, value.shape, value.tobytes()

    def _code(self, value: object) -> Hashable:
        if isinstance(value, types.FunctionType):
            cells = tuple(self._cell(cell) for cell in value.__closure__ or ())
            defaults = self.of(value.__defaults__), self.of(value.__kwdefaults__)
            return value.__module__, value.__qualname__, value.__code__, defaults, cells
        if isinstance(value, types.MethodType):
            return self.of(value.__func__), self.of(value.__self__)
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            return value.__name__, self.of(owner) if owner is not None else None
        if isinstance(value, types.MethodDescriptorType | types.WrapperDescriptorType):
            return value.__objclass__.__module__, value.__qualname__
        return self._object(value)

    def _cell(self, cell: types.CellType) -> Hashable:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            raise Unrecognised("an empty cell") from None

    def _object(self, value: object) -> Hashable:
        kind = _without_memory(type(value))
        if not kind.__module__.startswith(_OPEN) or not hasattr(value, "__dict__"):
            raise Unrecognised(kind.__name__)
        kept = {k: v for k, v in vars(value).items() if k not in _DERIVED and not k.startswith("cached_")}
        return kind.__module__, tuple((k, self.of(v)) for k, v in sorted(kept.items()))


def _without_memory(kind: type) -> type:
    """Return the class of a key, or of its function, for one that remembers answers; any other class itself."""
    return kind.__mro__[1] if kind.__module__ == _WITH_MEMORY else kind
