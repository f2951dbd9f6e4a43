"""Answers of another kind than the expected one: a text for a number, None for a list."""

from typing import Final

import numpy as np

from viva.compare.disagreement import Difference
from viva.compare.show import describe, show

NO_RETURN: Final = "Is a `return` missing? (Printing a value does not return it.)"
_SHORT: Final = 40


def of_another_kind(actual: object, expected: object) -> Difference:
    """Return the difference between two values that cannot be compared any further."""
    return Difference(
        f"is {describe(actual)}; expected {_wanted(expected)}.", "", actual, expected, _advice(actual, expected)
    )


def _wanted(expected: object) -> str:
    if isinstance(expected, bool):
        return "True or False"
    if isinstance(expected, list | tuple | dict | set | frozenset) and len(expected) <= _SHORT:
        shown = show(expected, _SHORT)
        return shown if len(shown) <= _SHORT and "…" not in shown else describe(expected)
    return describe(expected)


def _advice(actual: object, expected: object) -> str:
    if actual is None:
        return NO_RETURN
    if isinstance(actual, str) and isinstance(expected, bool | int | float | np.number):
        return "Return the number itself, not its text."
    if isinstance(actual, set | frozenset) and isinstance(expected, list | tuple | np.ndarray):
        return "A set has no order: return a list."
    return ""
