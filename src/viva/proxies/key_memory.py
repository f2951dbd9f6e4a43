"""A key that is asked once for a class: tests draw the same questions for every submission.

What the key answered within a case is kept, by question, for the next submission. If a case asks the same question
again, the second answer is kept as the second, so that a key that draws at random answers as it would. What a test
draws with `viva.grading.once_per_class` is kept as well.
"""

import contextlib
import hashlib
from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from viva.proxies.key import Key, KeyFunction
from viva.proxies.plain_copies import copy_plain, is_named_tuple, is_plain_array
from viva.proxies.proxies import Call

_MOST_BYTES: Final = 64 << 20
"""The answers of one examiner take about this much memory at most; what comes later is computed each time."""
_LARGE: Final = 256
"""Bytes from which an array in a question is represented by a digest."""
_OVERHEAD: Final = 400
"""Bytes that a kept answer takes in addition to its arrays and those of its question, about."""
Drawing = tuple[Hashable, Any, list[Any]]
"""Function and arguments, what was drawn, and the states of the random generators afterwards."""
_UNCHANGING: Final = frozenset({int, bool, str, bytes, Fraction, type(None)})


class _Unknown(Exception):
    """A value that may be an object with a state of its own."""


class KeyMemory:
    """Answers by case, question, and how often the case has asked it before."""

    def __init__(self) -> None:
        self._submissions = 0
        self._case_id = ""
        self._times: dict[Hashable, int] = {}
        self._answers: dict[Hashable, Any] = {}
        self._drawings: dict[Hashable, tuple[Any, list[Any]]] = {}
        """See Drawing."""
        self._handed_over: set[Hashable] = set()
        self._bytes = 0

    def for_submission(self, key: Key) -> Key:
        """Return the key for the next submission: itself for the first, which may be the only one, then with memory."""
        self._submissions += 1
        return key if self._submissions == 1 else RememberingKey(key, self)

    def begin(self, case_id: str) -> None:
        """Let a case begin, for this submission or for the next one."""
        self._case_id, self._times = case_id, {}

    def forget(self) -> None:
        """Forget all answers and drawings."""
        self._answers, self._drawings, self._bytes = {}, {}, 0

    def drawing(self, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a function drew from equal arguments, and leave the random generators as it left them."""
        given = (*args, *kwargs.values())
        try:
            question: Hashable = draw.__module__, draw.__qualname__, *kwargs, *map(_drawn_from, given)
        except _Unknown:
            return draw(*args, **kwargs)
        generators = [value.bit_generator for value in given if type(value) is np.random.Generator]
        if question in self._drawings:
            value, states = self._drawings[question]
            for generator, state in zip(generators, states, strict=True):
                generator.state = state
            return _fresh(value)
        # Nothing that is asked while drawing is kept: the next submission does not ask it.
        value = draw(*map(_without_memory, args), **{name: _without_memory(item) for name, item in kwargs.items()})
        if self._has_room:
            with contextlib.suppress(_Unknown):
                self._drawings[question] = _fresh(value), [generator.state for generator in generators]
                self._bytes += _OVERHEAD + _size(given) + _size(value)
        return value

    def hand_over(self) -> list[Drawing]:
        """Return what was drawn since the last time, for the memory of another process."""
        new = [(question, *self._drawings[question]) for question in self._drawings.keys() - self._handed_over]
        self._handed_over.update(question for question, _, _ in new)
        return new

    def take_over(self, drawing: Drawing) -> None:
        """Keep what the memory of another process has handed over."""
        question, value, states = drawing
        self._drawings[question] = value, states
        self._bytes += _OVERHEAD + _size(value)

    def answer(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], ask: Callable[..., Any]) -> Any:
        """Return the kept answer, or ask; keep the answer if it and the question are plain data."""
        try:
            question: Hashable = name, _identity(args), _identity(kwargs)
        except _Unknown:
            return ask(*args, **kwargs)
        time = self._times[question] = self._times.get(question, 0) + 1
        at = (self._case_id, question, time)
        if at in self._answers:
            return _fresh(self._answers[at])
        value = ask(*args, **kwargs)
        if self._has_room:
            with contextlib.suppress(_Unknown):
                self._answers[at] = _fresh(value)
                self._bytes += _OVERHEAD + 2 * _size((args, kwargs)) + _size(value)
        return value

    @property
    def _has_room(self) -> bool:
        return self._bytes < _MOST_BYTES


class RememberingKey(Key):
    """Answers as the key does, from the memory if it can."""

    def __init__(self, key: Key, memory: KeyMemory) -> None:
        super().__init__(key._module)
        self._memory = memory

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        return _RememberingFunction(found.function, name, self._memory) if isinstance(found, KeyFunction) else found


class _RememberingFunction(KeyFunction):
    def __init__(self, function: Callable[..., object], name: str, memory: KeyMemory) -> None:
        super().__init__(function, name)
        self._memory = memory

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._memory.answer(self.__name__, args, kwargs, super().__call__)

    keep = __call__

    def call(self, *args: object, **kwargs: object) -> Call:
        did: Call = self._memory.answer(f"call {self.__name__}", args, kwargs, super().call)
        return did

    def _of(self, function: Callable[..., object], name: str) -> KeyFunction:
        return _RememberingFunction(function, name, self._memory)


def _identity(value: Any) -> Hashable:
    """Return what is equal for equal questions alone; a number is not equal to one of another type."""
    kind = type(value)
    if kind in _UNCHANGING:
        return kind, value
    if kind is float:
        return float.hex(value)  # tells 0.0 from -0.0, and a NaN is equal to itself
    if is_plain_array(value):
        data = value.tobytes()
        content = data if len(data) < _LARGE else hashlib.blake2b(data, digest_size=16).digest()
        flags = value.flags
        return value.dtype.str, value.shape, flags.c_contiguous, flags.f_contiguous, content
    if kind is dict:
        return kind, tuple((_identity(name), _identity(item)) for name, item in value.items())
    if kind is list or kind is tuple:
        return _identity_of_items(kind, value)
    if is_named_tuple(value):
        return kind, *map(_identity, value)
    if kind is set or kind is frozenset:
        return kind, frozenset(map(_identity, value))
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    raise _Unknown


def _identity_of_items(kind: type, items: Sequence[Any]) -> Hashable:
    """Return what `_identity` says of a list or tuple; of many equal kinds of values it is found at once."""
    kinds = set(map(type, items))
    if len(kinds) == 1:
        (of_all,) = kinds
        if of_all in _UNCHANGING:
            return kind, of_all, tuple(items)
        if of_all is float:
            return kind, of_all, array("d", items).tobytes()
    return kind, *map(_identity, items)


def _drawn_from(value: Any) -> Hashable:
    """Return what is equal for arguments from which the same is drawn."""
    if isinstance(value, Key):
        return Key  # an examiner has one
    if type(value) is np.random.Generator:
        return _identity(value.bit_generator.state)
    return _identity(value)


def _without_memory(value: Any) -> Any:
    return Key(value._module) if type(value) is RememberingKey else value


def _fresh(value: Any) -> Any:
    """Return a value that shares nothing that can be changed with this one."""
    if type(value) is Call:
        args, kwargs = _fresh(value.args_after), _fresh(value.kwargs_after)
        return replace(value, value=_fresh(value.value), args_after=args, kwargs_after=kwargs)
    return copy_plain(value, _unchanging)


def _unchanging(value: Any) -> Any:
    if type(value) in _UNCHANGING or type(value) in (float, complex) or isinstance(value, np.generic):
        return value
    raise _Unknown


def _size(value: Any) -> int:
    """Return the bytes of the arrays and texts in a value, about."""
    if type(value) is np.ndarray:
        return int(value.nbytes)
    if isinstance(value, list | tuple | set | frozenset):
        return 60 * len(value) + sum(map(_size, value))
    if type(value) is dict:
        return 100 * len(value) + sum(map(_size, value.values()))
    if type(value) is Call:
        return _size((value.value, value.args_after, value.kwargs_after))
    return len(value) if isinstance(value, str | bytes) else 0
