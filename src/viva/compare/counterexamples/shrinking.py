"""Switch off shrinking where no student reads the counter-example, as in a trial of mutants."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_SHRINKS: Final = ContextVar("shrinks", default=True)


def shrinks() -> bool:
    """Return whether counter-examples are made smaller here."""
    return _SHRINKS.get()


@contextmanager
def shrinking(*, on: bool) -> Iterator[None]:
    """Make counter-examples smaller in the block, or take the first one that is found."""
    token = _SHRINKS.set(on)
    try:
        yield
    finally:
        _SHRINKS.reset(token)
