"""Decides which mistakes a test may name: only those that give every answer of the test.

The first comparison that does not agree ends the test. The examiner then runs the test a second time. In that run,
comparisons raise nothing and only check whether the suspected mistakes still fit.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Evidence:
    """The mistakes that the answers of one test rule out."""

    suspected: Collection[str] | None = None
    """The mistakes that a second run checks; None in the test itself."""
    refuted: set[str] = field(default_factory=set)
    """Mistakes that would have given another answer than the student's."""


_evidence: ContextVar[Evidence | None] = ContextVar("_evidence", default=None)


@contextmanager
def of_one_test(suspected: Collection[str] | None = None) -> Iterator[Evidence]:
    """Begin without evidence; what is found within the block is forgotten after it.

    Args:
        suspected: mistakes to check in a second run, in which `agree` raises nothing.
    """
    evidence = Evidence(suspected)
    before = _evidence.set(evidence)
    try:
        yield evidence
    finally:
        _evidence.reset(before)


def is_second_look() -> bool:
    """Return whether comparisons only look which mistakes fit."""
    evidence = _evidence.get()
    return evidence is not None and evidence.suspected is not None


def looked(hints: Mapping[str, object] | None, agrees: Callable[[object], bool]) -> bool:
    """In a second run, note which suspected mistakes would have given another answer; return whether this is one."""
    evidence = _evidence.get()
    if evidence is None or evidence.suspected is None:
        return False
    for name, hint in (hints or {}).items():
        if name in evidence.suspected:
            with suppress(Exception):  # the author's mistake has been reported already
                if not agrees(hint() if callable(hint) else hint):
                    evidence.refuted.add(name)
    return True


def answer_agreed(hints: Mapping[str, object] | None, agrees: Callable[[object], bool]) -> None:
    """Note the mistakes that would have given another answer than one that agreed.

    A hint that has not been computed yet is not computed for this: right answers would pay for it.
    """
    evidence = _evidence.get()
    if evidence is None:
        return
    for name, hint in (hints or {}).items():
        with suppress(Exception):  # the author's mistake is reported where the hint is needed
            if not callable(hint) and not agrees(hint):
                evidence.refuted.add(name)


def not_refuted(named: list[str]) -> list[str]:
    """Return the mistakes that fit all answers of the test so far."""
    evidence = _evidence.get()
    return [name for name in named if evidence is None or name not in evidence.refuted]
