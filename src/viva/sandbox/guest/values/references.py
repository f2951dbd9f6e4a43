"""Objects that stay in the box: stored by number until the examiner releases them."""

from __future__ import annotations

import re
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Sequence, TypeVar

from ..loading import sources
from ..transport.frames import Frame
from ..transport.wire import Code, Ref, Tensor

T = TypeVar("T")
_LONGEST_TEXT = 200
_BITS_OF_OBJECTS = 24
_NUMBERED_TESTS = (1 << 32) - 1
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class NoSuchObject(LookupError):
    """The examiner named an object that the box does not hold (any more); this is the examiner's mistake."""


class References:
    """Keeps objects alive, and inserts them where the examiner's requests name them."""

    def __init__(self, find: Callable[[str], object] = str) -> None:
        """Begin without objects.

        Args:
            find: returns what the submission defines under a name, for code that makes objects of its classes.
        """
        self._find = find
        self._objects: Dict[int, Any] = {}
        self._last: Dict[int, int] = {}
        self._first = 0
        self.begin_request()

    def begin_test(self, seed: int) -> None:
        """Count further objects from a value that depends on the seed of the test alone.

        What a test asks about its objects is the same then whichever tests came before it, so that a call log can
        answer it alone.
        """
        self._first = (seed & _NUMBERED_TESTS) << _BITS_OF_OBJECTS

    def begin_request(self) -> None:
        """Forget what belongs to the request before."""
        self.mentioned = False
        """Whether the current request holds what `arguments` replaces; if not, its arguments are used unchanged."""
        self._made: List[object] = []
        """The objects made from code for the current request."""

    @property
    def last(self) -> int:
        """Return the number of the object that was stored last."""
        return self._last.get(self._first, self._first)

    def keep(self, value: object) -> Ref:
        """Store an object, and return its reference."""
        number = self._last[self._first] = self.last + 1
        self._objects[number] = value
        return Ref(number, sources.name_of(type(value)), _short(value))

    def __getitem__(self, number: int) -> Any:
        try:
            return self._objects[number]
        except KeyError:
            raise NoSuchObject(f"the box holds no object number {number}") from None

    def release(self, numbers: Iterable[int]) -> None:
        """Forget objects."""
        for number in numbers:
            self._objects.pop(number, None)

    def mention(self, value: T) -> T:
        """Note a Ref, Tensor, Frame or Code of a request, and return it; the decoder calls this."""
        self.mentioned = True
        return value

    def arguments(self, value: object) -> Any:
        """Return what the examiner sent, with the objects that it names, tensors, data frames and functions."""
        return self._resolved(value) if self.mentioned else value

    def _resolved(self, value: Any) -> Any:
        kind = type(value)
        if kind is Ref:
            return self[value.id]
        if kind is Tensor:
            return _torch_tensor(value)
        if kind is Frame:
            return value.to_pandas()
        if kind is Code:
            self._made.append(made := _made(value, self._find, self._made))
            return made
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            return kind([self._resolved(item) for item in value])
        if kind is dict:
            return {self._resolved(key): self._resolved(item) for key, item in value.items()}
        return value


def _torch_tensor(sent: Tensor) -> object:
    import torch

    return torch.from_numpy(sent.array).to(getattr(torch, sent.dtype))


class _Submission:
    """Offers the names of the submission as attributes."""

    def __init__(self, find: Callable[[str], object]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> object:
        return self._find(name)


def _made(sent: Code, find: Callable[[str], object], before: Sequence[object]) -> object:
    names: Dict[str, Any] = {"__name__": "viva_argument", "student": _Submission(find), "before": before}
    exec(compile(sent.statements, "<argument>", "exec"), names)  # the examiner's own code
    return eval(compile(sent.expression, "<argument>", "eval"), names)  # noqa: S307  # as above


def _short(value: object) -> str:
    """Return a short repr that is the same in every run; empty if it would take long or fails."""
    if isinstance(value, types.ModuleType) or _is_of_torch(value):
        return ""
    try:
        return _ADDRESS.sub("", str.__str__(repr(value)))[:_LONGEST_TEXT]
    except Exception:
        return ""


def _is_of_torch(value: object) -> bool:
    """Return whether it is a tensor or network, whose repr computes and prints."""
    torch = sys.modules.get("torch")
    kinds = (getattr(torch, "Tensor", None), getattr(sys.modules.get("torch.nn"), "Module", None))
    return any(isinstance(kind, type) and issubclass(type(value), kind) for kind in kinds)
