"""Compares one text with another."""

from typing import Final

from viva.compare.context import Context
from viva.compare.disagreement import Difference
from viva.compare.kinds import of_another_kind
from viva.compare.show import show

_AROUND: Final = 12
_SHORT: Final = 40
_MUCH_LONGER: Final = 10

Text = str | bytes


def compare_texts(actual: object, expected: Text, context: Context) -> Difference | None:
    """Return the difference, or None if the texts are the same; a number never equals a text."""
    if not isinstance(actual, type(expected)):
        return of_another_kind(actual, expected)
    if actual == expected or (context.spaces and _words(actual, expected) == expected.split()):
        return None
    text = f"is {show(actual)}; expected {show(expected)}.{_near_miss(actual, expected)}"
    if max(len(actual), len(expected)) > _SHORT:
        at = _first_difference(actual, expected)
        start = max(0, at - _AROUND)
        seen, wanted = actual[start : at + _AROUND], expected[start : at + _AROUND]
        text = f"differs from the expected text at character {at}: {seen!r}, expected {wanted!r}."
        text += _near_miss(actual, expected)
    return Difference(text, "", actual, expected)


def _words(actual: Text, expected: Text) -> list[str] | list[bytes] | None:
    """Return the answer's words; None for a text that is too long for white space to be the difference."""
    return actual.split() if len(actual) <= _MUCH_LONGER * len(expected) + 10_000 else None


def _near_miss(actual: Text, expected: Text) -> str:
    if len(actual) > _MUCH_LONGER * len(expected) + 1000:
        return ""
    if actual.split() == expected.split():
        return " Only white space differs."
    if actual.lower() == expected.lower():
        return " Only upper and lower case differ."
    return ""


def _first_difference(actual: Text, expected: Text) -> int:
    shorter = min(len(actual), len(expected))
    for at in range(shorter):
        if actual[at] != expected[at]:
            return at
    return shorter
