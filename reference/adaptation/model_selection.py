"""Choosing the best of several runs by their accuracy on the development set, and when an accuracy shows learning.

σ = √(p (1 - p)/n)      the standard deviation of an accuracy p on n independent rows
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def select_best(results: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the positions of all runs with the highest accuracy `dev`; `test` has no part in the choice."""
    best = max(result["dev"] for result in results)
    return [position for position, result in enumerate(results) if result["dev"] == best]


def accuracy_deviation(accuracy: float, n: int) -> float:
    """Return σ of an accuracy on n rows: 0.0085 for the majority class of BoolQ's development set."""
    return math.sqrt(accuracy * (1 - accuracy) / n)


def learned_threshold(majority: float, n: int) -> float:
    """Return three standard deviations above the majority class: what chance reaches once in 700 runs."""
    return majority + 3 * accuracy_deviation(majority, n)
