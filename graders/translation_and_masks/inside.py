"""The author's helpers that live in the box: what the student's functions are given to work with. Holds no answers.

Runs in the course's interpreter, so numpy and the standard library only, and Python 3.9 or later.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Step = Callable[[Sequence[str]], "dict[str, float]"]


def step_function(nodes: list[tuple[list[str], dict[str, float]]]) -> Step:
    """A language model as a table: from the tokens so far, in any sequence, to the probability of each next token."""
    table = {tuple(prefix): probabilities for prefix, probabilities in nodes}

    def step(prefix: Sequence[str]) -> dict[str, float]:
        return dict(table[tuple(prefix)])

    return step


def elu_plus_one(x: Any) -> Any:
    """elu(x) + 1, element by element; a torch tensor gives a tensor, anything else an array."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return torch.nn.functional.elu(x) + 1
    values = np.asarray(x, dtype=float)
    return np.where(values > 0, values + 1, np.exp(np.minimum(values, 0)))


def squared_plus_one(x: Any) -> Any:
    """x² + 1, element by element: another positive feature map, so that none can be built in."""
    return x * x + 1 if hasattr(x, "shape") else np.asarray(x, dtype=float) ** 2 + 1


def generator(seed: int) -> np.random.Generator:
    """Return the source of randomness that the student's samplers are given."""
    return np.random.default_rng(seed)


def each(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function on each list of arguments, all in one request to the box."""
    return [function(*arguments) for arguments in questions]


def repeat(function: Callable[..., Any], times: int, *arguments: Any) -> list[Any]:
    """Call a function many times in one request to the box."""
    return [function(*arguments) for _ in range(times)]
