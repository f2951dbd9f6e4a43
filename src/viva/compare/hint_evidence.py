"""What earlier comparisons of a test say about a hint: a mistake that would have shown there is not the mistake."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_refuted: ContextVar[set[str] | None] = ContextVar("_refuted", default=None)


@contextmanager
def of_one_test() -> Iterator[None]:
    """Begin without evidence; what is found within the block is forgotten after it."""
    before = _refuted.set(set())
    try:
        yield
    finally:
        _refuted.reset(before)


def answer_agreed(hints: Mapping[str, object] | None, agrees: Callable[[object], bool]) -> None:
    """Note the mistakes that would have given another answer than one that agreed.

    A hint that is still to be computed is not asked for: right answers would pay for it.
    """
    refuted = _refuted.get()
    if refuted is None:
        return
    for name, hint in (hints or {}).items():
        with suppress(Exception):  # the author's slip is told where the hint is needed
            if not callable(hint) and not agrees(hint):
                refuted.add(name)


def not_refuted(named: list[str]) -> list[str]:
    """Return the mistakes that fit all answers of the test so far."""
    refuted = _refuted.get() or ()
    return [name for name in named if name not in refuted]
