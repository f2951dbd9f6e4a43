"""Partial credit by kinds of inputs: a function that fails on empty inputs alone has the others right."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from viva.compare.counterexamples.examples import Example
from viva.model.errors import BoxError, StudentRaised


def share_of_kinds(examples: Sequence[Example], is_right: Callable[[Example], bool]) -> Fraction:
    """Return the share of the kinds of inputs of which every example is right; a kind counts once."""
    right: dict[str, bool] = {}
    for example in sorted(examples, key=lambda example: kind_of(example.arguments) != "ordinary"):
        kind = kind_of(example.arguments)
        if right.setdefault(kind, True):
            try:
                right[kind] = is_right(example)
            except (StudentRaised, BoxError):  # out of time, or ended: nothing after it is right
                right[kind] = False
    return Fraction(sum(right.values()), len(right))


def kind_of(arguments: Sequence[object]) -> str:
    """Return which kind of input the arguments of a call are: "missing values", "empty" or "ordinary"."""
    if any(map(_has_missing_values, arguments)):
        return "missing values"
    return "empty" if any(map(_is_empty, arguments)) else "ordinary"


def _is_empty(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.size == 0
    return isinstance(value, str | list | tuple | set | frozenset | Mapping) and not value


def _has_missing_values(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_has_missing_values, value))
    if isinstance(value, Mapping):
        return any(map(_has_missing_values, value.values()))
    return value is None or (isinstance(value, float) and np.isnan(value))
