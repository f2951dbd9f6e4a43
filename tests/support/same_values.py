"""Comparing values without trusting `==`: types, contents and order, NaN equal to itself."""

from decimal import Decimal
from typing import Any

import numpy as np

from viva.sandbox.guest.transport.frames import Frame


def same(first: Any, second: Any) -> bool:
    """Whether two values are of the same types throughout and hold the same."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray | np.generic):
        equal_nan = first.dtype.kind in "fcmM"
        return first.dtype == second.dtype and bool(np.array_equal(first, second, equal_nan=equal_nan))
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return same(list(first.items()), list(second.items()))
    if isinstance(first, float):
        return bool(first.hex() == second.hex())
    if isinstance(first, complex):
        return same(first.real, second.real) and same(first.imag, second.imag)
    if isinstance(first, set | frozenset):
        return len(first) == len(second) and all(any(same(one, other) for other in second) for one in first)
    if isinstance(first, Frame):
        return same(first.parts(), second.parts())
    if isinstance(first, Decimal):
        return bool(first.as_tuple() == second.as_tuple())
    return bool(first == second)
