"""The author's helpers that live in the box: what the student's functions are given to work with. Holds no answers.

Runs in the course's interpreter, so numpy, torch and the standard library only, and Python 3.9 or later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def generator(seed: int) -> np.random.Generator:
    """The source of randomness that the student's samplers are given."""
    return np.random.default_rng(seed)


def each(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function on each list of arguments, all in one crossing of the door."""
    return [function(*arguments) for arguments in questions]


def repeat(function: Callable[..., Any], times: int, *arguments: Any) -> list[Any]:
    """Call a function many times in one crossing of the door."""
    return [function(*arguments) for _ in range(times)]


# Section 1: BERT


# Sections 2 and 3: LoRA and constrained generation
