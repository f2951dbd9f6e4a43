"""Decides which mistakes a test may name: only those that give every answer of the test, and not by chance.

The first comparison that does not agree ends the test. The examiner then runs the test a second time. In that run,
comparisons raise nothing and only check whether the suspected mistakes still fit, and how many answers they explain.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np

from viva.compare.disagreement import Disagreement

MIN_EXPLAINED: Final = 2
"""Wrong answers that a mistake must give before it is named, where each could be hit by chance."""
MIN_ITEMS: Final = 4
"""Items of an answer that is not hit by chance."""
_SIMPLE: Final = 60
"""A multiple of one over this, such as 1/2, 2/3 or 0.05, is a simple fraction."""
_SMALL: Final = 100


@dataclass(slots=True)
class Evidence:
    """The mistakes that the answers of one test rule out."""

    suspected: Collection[str] | None = None
    """The mistakes that a second run checks; None in the test itself."""
    refuted: set[str] = field(default_factory=set)
    """Mistakes that would have given another answer than the student's."""
    explained: Counter[str] = field(default_factory=Counter)
    """For each mistake the wrong answers that it gives."""

    def supports(self, name: str, error: Disagreement) -> bool:
        """Return whether a suspected mistake may be named for the test that ended with this error."""
        if name in self.refuted:
            return False
        return error.is_telling or self.explained[name] >= MIN_EXPLAINED


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


def looked(hints: Mapping[str, object] | None, agrees: Callable[[object], bool], expected: object) -> bool:
    """In a second run, note which suspected mistakes give the answer and which do not; return whether this is one."""
    evidence = _evidence.get()
    if evidence is None or evidence.suspected is None:
        return False
    for name, hint in (hints or {}).items():
        if name in evidence.suspected:
            with suppress(Exception):  # the author's mistake has been reported already
                if not agrees(hint() if callable(hint) else hint):
                    evidence.refuted.add(name)
                elif not agrees(expected):
                    evidence.explained[name] += 1
    return True


def is_telling(answer: object) -> bool:
    """Return whether two unrelated mistakes are unlikely to give this answer: several items, or an unusual number."""
    items = 0
    waiting: list[object] = [answer]
    while waiting and items < MIN_ITEMS:
        part = waiting.pop()
        if isinstance(part, np.ndarray):
            waiting += part.flat[:MIN_ITEMS].tolist()
        elif isinstance(part, Mapping):
            waiting += islice(part.values(), MIN_ITEMS)
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += islice(part, MIN_ITEMS)
        elif _is_unusual(part):
            return True
        else:
            items += len(part) if isinstance(part, str) else 1
    return items >= MIN_ITEMS


def _is_unusual(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) >= _SMALL or not float(value * _SIMPLE).is_integer()


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
