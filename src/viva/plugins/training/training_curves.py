"""Curves that a test has computed."""

import math
from collections.abc import Mapping, Sequence
from typing import SupportsFloat

from viva.grading.events import current_events


def draw(name: str, values: Sequence[SupportsFloat], thresholds: Mapping[int, float] | None = None) -> None:
    """Show a quantity over the epochs in the feedback of a visible test; a curve drawn again replaces the earlier one.

    Args:
        name: what is shown, for example "gap"; the same for the whole class, which is shown in one picture.
        values: one number for each epoch, from the first; computed by the test, never text from the student.
        thresholds: epoch (from 1) to the value that is asked for after it.

    Raises:
        TypeError: a value is not a finite number.
        ValueError: a value is not a finite number.
    """
    marks = tuple((int(epoch), finite(value, name)) for epoch, value in sorted((thresholds or {}).items()))
    current_events().draw(name, tuple(finite(value, name) for value in values), marks)


def finite(value: SupportsFloat, name: str) -> float:
    """Return a plain finite float.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not a finite number.
    """
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}; expected a finite number.")
    return number
