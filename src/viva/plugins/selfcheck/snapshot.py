"""A snapshot of what a student's variables hold, taken before a check and restored in place after it.

A check calls the student's functions, which may change lists, arrays and models that the notebook still uses. Objects
stay the same objects; their contents are written back. No student code is called: only exact types of Python, numpy
and torch are read, and the attributes of objects whose classes the student wrote.
"""

import collections
import contextlib
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

MOST_BYTES: Final = 128 << 20
"""The most bytes of all arrays and tensors; a larger one is not saved, and is reported."""
MOST_OBJECTS: Final = 100_000

Undo = Callable[[], None]
_DICTS: Final = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_PLAIN: Final = frozenset(
    {int, float, complex, str, bytes, bool, type(None), range, type(...), types.BuiltinFunctionType}
)
_OF_THE_SHELL: Final = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open"})


class Snapshot:
    """The bindings of a namespace, and the contents of what they refer to."""

    def __init__(
        self,
        namespace: dict[str, object],
        *others: dict[str, object],
        most_bytes: int = MOST_BYTES,
        most_objects: int = MOST_OBJECTS,
    ) -> None:
        """Save everything that the names reach.

        Args:
            namespace: the globals of the student's code.
            others: those of the student's modules.
            most_bytes: how many bytes are saved; anything beyond that is listed in `too_large`.
            most_objects: how many objects are saved; anything beyond that is listed in `too_large`.
        """
        self.too_large: list[str] = []
        self._bytes, self._objects = most_bytes, most_objects
        spaces = (namespace, *others)
        self._homes = {str(space.get("__name__", "__main__")) for space in spaces}
        self._seen: dict[int, Any] = {}
        self._undo: list[Undo] = [_bindings(space) for space in spaces]
        for name, value in [item for space in spaces for item in space.items()]:
            if type(name) is str and not name.startswith("_") and name not in _OF_THE_SHELL and not self._walk(value):
                self.too_large.append(name)

    def restore(self) -> None:
        """Restore everything that can be restored."""
        for undo in self._undo:
            with contextlib.suppress(Exception):  # a lock on an array, a tensor that was freed: the others still count
                undo()

    def _walk(self, value: object) -> bool:
        """Save an object and what it reaches; return False if that was too much."""
        whole = True
        waiting = [value]
        while waiting:
            here = waiting.pop()
            kind = type(here)
            if kind in _PLAIN or id(here) in self._seen:
                continue
            if self._objects <= 0:
                return False
            self._objects -= 1
            self._seen[id(here)] = here  # kept alive, so that no other object gets its id
            size = _bytes_of(here)
            if size > self._bytes:
                whole = False
                continue
            self._bytes -= size
            undo, inner = self._remember(here, kind)
            self._undo += [] if undo is None else [undo]
            waiting += inner
        return whole

    def _remember(self, here: Any, kind: type) -> tuple[Undo | None, Iterable[object]]:
        """Return how to restore one object, and which objects it holds."""
        if kind in _CONTAINERS:
            return _CONTAINERS[kind](here)
        if kind is tuple or kind is frozenset:
            return None, here
        if kind is types.FunctionType:
            return _function(here) if here.__module__ in self._homes else (None, ())
        if issubclass(kind, type):
            return _class(here) if _home_of(here) in self._homes else (None, ())
        if issubclass(kind, np.ndarray):
            return _array(here), (here.ravel().tolist() if kind is np.ndarray and here.dtype == object else ())
        for known, state in _GENERATORS.items():
            if kind is known:
                return state(here), ()
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "nn"):
            if issubclass(kind, torch.Tensor):
                return _tensor(torch, here), (() if here.grad is None or not here.is_leaf else (here.grad,))
            if kind is torch.Generator:
                return _torch_generator(here), ()
            if issubclass(kind, (torch.nn.Module, torch.optim.Optimizer)):
                return None, [_attributes(here)]
        return (None, [_attributes(here)]) if _home_of(kind) in self._homes else (None, ())


def _home_of(kind: type) -> object:
    """Return the module that defines a class, whatever its metaclass says."""
    return type.__dict__["__module__"].__get__(kind)


def _members(kind: type) -> Mapping[str, object]:
    """Return what a class defines, whatever its metaclass says."""
    members: Mapping[str, object] = type.__dict__["__dict__"].__get__(kind)
    return members


def _attributes(here: object) -> dict[str, object] | None:
    """Return the dict of an object's attributes; None if it has none."""
    try:
        found = object.__getattribute__(here, "__dict__")
    except Exception:  # it has none, or its class overrides it
        return None
    return found if type(found) is dict else None


def _same(now: Iterable[object], before: Iterable[object]) -> bool:
    """Return whether these are the same objects in the same order, without comparing any of them."""
    return [id(item) for item in now] == [id(item) for item in before]


def _bindings(namespace: dict[str, object]) -> Undo:
    before = dict(namespace)

    def undo() -> None:
        for name in [name for name in namespace if name not in before]:
            del namespace[name]
        for name, value in before.items():
            if namespace.get(name, undo) is not value:
                namespace[name] = value

    return undo


def _dict(here: dict[object, object]) -> tuple[Undo, Iterable[object]]:
    before = dict(here)

    def undo() -> None:
        if not _same(here.keys(), before.keys()) or not _same(here.values(), before.values()):
            here.clear()
            dict.update(here, before) if type(here) is not collections.OrderedDict else here.update(before)

    return undo, list(before.values())


def _sequence(here: list[object] | collections.deque[object]) -> tuple[Undo, Iterable[object]]:
    before = list(here)

    def undo() -> None:
        if not _same(here, before):
            here.clear()
            here.extend(before)

    return undo, before


def _set(here: set[object]) -> tuple[Undo, Iterable[object]]:
    before = set(here)

    def undo() -> None:
        if {id(item) for item in here} != {id(item) for item in before}:
            here.clear()
            here.update(before)

    return undo, ()


def _bytearray(here: bytearray) -> tuple[Undo, Iterable[object]]:
    before = bytes(here)

    def undo() -> None:
        if here != before:
            here[:] = before

    return undo, ()


_CONTAINERS: Final[dict[type, Callable[[Any], tuple[Undo, Iterable[object]]]]] = {
    **dict.fromkeys(_DICTS, _dict),
    list: _sequence,
    collections.deque: _sequence,
    set: _set,
    bytearray: _bytearray,
}


def _function(here: types.FunctionType) -> tuple[Undo, Iterable[object]]:
    """Save defaults that a call may change, attributes, and the variables of the enclosing functions."""
    cells = [(cell, content) for cell in here.__closure__ or () for content in _content(cell)]

    def undo() -> None:
        for cell, content in cells:
            if not _same(_content(cell), [content]):
                cell.cell_contents = content

    inner = [*(here.__defaults__ or ()), here.__kwdefaults__, vars(here), *(content for _, content in cells)]
    return undo, inner


def _content(cell: types.CellType) -> Iterator[object]:
    try:
        yield cell.cell_contents
    except ValueError:  # empty
        return


def _class(here: type) -> tuple[Undo, Iterable[object]]:
    """Save the attributes of a class, such as a counter of its instances."""
    before = {name: value for name, value in _members(here).items() if not _of_python(name)}

    def undo() -> None:
        now = {name: value for name, value in _members(here).items() if not _of_python(name)}
        for name in now.keys() - before.keys():
            type.__delattr__(here, name)
        for name, value in before.items():
            if now.get(name, undo) is not value:
                type.__setattr__(here, name, value)

    return undo, list(before.values())


def _of_python(name: str) -> bool:
    return name.startswith(("__", "_abc_"))


def _bytes_of(here: Any) -> int:
    if issubclass(type(here), np.ndarray):
        return int(np.ndarray.nbytes.__get__(here))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor") and issubclass(type(here), torch.Tensor):
        return int(here.element_size() * here.nelement())
    return 0


def _array(here: Any) -> Undo | None:
    if not here.flags.writeable:
        return None
    view = np.ndarray.view(here, np.ndarray)
    before = view.copy()

    def undo() -> None:
        if view.dtype == object or view.tobytes() != before.tobytes():
            view[...] = before

    return undo


def _tensor(torch: Any, here: Any) -> Undo | None:
    """Save a tensor's numbers and its gradient; the graph that made it is left as it is."""
    if here.layout != torch.strided or here.is_meta:
        return None
    before, gradient = here.detach().clone(), here.grad if here.is_leaf else None
    asks = here.requires_grad

    def undo() -> None:
        if not torch.equal(_bits(torch, here), _bits(torch, before)):
            with torch.no_grad():
                here.detach().copy_(before)
        if here.is_leaf:
            here.grad = gradient
            if here.requires_grad != asks:
                here.requires_grad_(asks)

    return undo


def _bits(torch: Any, tensor: Any) -> Any:
    """Return the bytes of a tensor, for which NaN equals itself."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def _torch_generator(here: Any) -> Undo:
    before = here.get_state()
    return lambda: here.set_state(before)


def _numpy_generator(here: np.random.Generator) -> Undo:
    before = here.bit_generator.state
    return lambda: setattr(here.bit_generator, "state", before)


def _random_state(here: np.random.RandomState) -> Undo:
    before = here.get_state()
    return lambda: here.set_state(before)


def _random(here: random.Random) -> Undo:
    before = here.getstate()
    return lambda: here.setstate(before)


_GENERATORS: Final[dict[type, Callable[[Any], Undo]]] = {
    np.random.Generator: _numpy_generator,
    np.random.RandomState: _random_state,
    random.Random: _random,
}
