"""How messages name a call: with its arguments in full where they are small, so that a student can repeat it."""

from typing import Any

import numpy as np

MAX_NUMBERS = 100
"""Arguments with more numbers are named by their shapes."""


def show_call(function: str, **arguments: Any) -> str:
    """Return a call in words, such as "self_attention with X = [[1, 0.5]], W_Q = np.eye(2), W_K = np.eye(2)"."""
    values = {name: np.asarray(argument) for name, argument in arguments.items()}
    is_large = sum(value.size for value in values.values() if not is_identity(value)) > MAX_NUMBERS
    texts = []
    for name, value in values.items():
        if is_large and value.ndim:
            texts.append(f"{name} of shape {value.shape}")
        else:
            texts.append(f"{name} = {show_numbers(value)}")
    return f"{function} with {', '.join(texts)}"


def show_numbers(values: Any) -> str:
    """Return numbers without loss, as short as Python writes them."""
    if is_identity(values):
        return f"np.eye({len(values)})"
    if np.ndim(values):
        return f"[{', '.join(map(show_numbers, values))}]"
    number = float(values)
    return str(int(number)) if number.is_integer() else str(number)


def is_identity(values: Any) -> bool:
    return np.ndim(values) == 2 and len(values) > 1 and np.array_equal(values, np.eye(len(values)))
