"""Draw the questions of a test once for a class: every submission is asked the same."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from viva.proxies.key_memory import KeyMemory

P = ParamSpec("P")
R = TypeVar("R")

_memory: ContextVar[KeyMemory | None] = ContextVar("_memory", default=None)


def once_per_class(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw once for a class; later submissions get a copy of what it returned.

    For functions that draw until a question tells a right answer from common mistakes. The function belongs at the top
    level of a module. Its arguments are plain values, arrays, the `rng` and the `key`, and what it returns depends on
    them alone. Afterwards `rng` goes on as if the function had drawn again. What it returns is kept if it consists of
    plain values, containers, named tuples and arrays.

    Raises:
        ValueError: the function is defined inside another one, on whose variables it depends.
    """
    if draw.__closure__:
        raise ValueError(f"@once_per_class belongs above a function at the top level of a module; {draw!r} is not.")

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        memory = _memory.get()
        return draw(*args, **kwargs) if memory is None else memory.drawing(draw, args, kwargs)

    return drawn


@contextmanager
def remembering_in(memory: KeyMemory | None) -> Iterator[None]:
    """Keep what is drawn inside the block in a memory; None for drawing each time."""
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)
