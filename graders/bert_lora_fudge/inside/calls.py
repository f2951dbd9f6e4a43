"""Calling the student's functions, and what samplers are given."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .layers import as_array


def generator(seed: int) -> np.random.Generator:
    """Return the source of randomness that the student's samplers are given."""
    return np.random.default_rng(seed)


def repeat(function: Callable[..., Any], times: int, *arguments: Any) -> list[Any]:
    """Call a function many times in one request to the box."""
    return [function(*arguments) for _ in range(times)]


def kept_apart(function: Callable[..., Any], times: int, first: Any, second: Any, *others: Any) -> dict[str, Any]:
    """Call a function again and again with the same objects.

    Returns:
        "values": a copy of each result, made before the next call; "after": the first two arguments after all of them.
    """
    values = [copy.deepcopy(function(first, second, *others)) for _ in range(times)]
    return {"values": values, "after": [first, second]}


def stacked(function: Callable[..., Any], times: int, *arguments: Any) -> list[Any]:
    """Call a function that returns some arrays many times; each of them stacked over the calls.

    Each call gets copies of all arguments but the last, the source of randomness, which goes on.
    """
    calls = [
        [np.array(as_array(part)) for part in function(*copy.deepcopy(arguments[:-1]), arguments[-1])]
        for _ in range(times)
    ]
    return [np.stack(parts) for parts in zip(*calls)]  # noqa: B905  # Python 3.9 knows no strict
