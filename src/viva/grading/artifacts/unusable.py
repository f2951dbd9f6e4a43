"""A submitted file that cannot be used."""

import math
from collections.abc import Sequence
from typing import Final, final

FLOOR: Final = 16 << 20
"""Bytes that any file may unpack to; a larger file may unpack to eight times its own size."""
RATIO: Final = 8
MOST_SIDES: Final = 32


@final
class Unusable(ValueError):
    """Why a submitted file cannot be used: the only error of the readers; `str()` continues after its name."""


def unpacked_limit(size: int, wanted: int = 0) -> int:
    """Return the bytes that a file of `size` bytes may unpack to, if a right one needs `wanted` bytes."""
    return max(FLOOR, RATIO * size, wanted)


def is_possible(shape: Sequence[int]) -> bool:
    """Return whether numpy can create an array of this shape: few enough sides, with a bounded product.

    An array without elements may have any other side.
    """
    return len(shape) <= MOST_SIDES and math.prod(max(side, 1) for side in shape) < 1 << 48
