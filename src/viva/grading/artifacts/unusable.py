"""A file that cannot be used."""

import math
from collections.abc import Sequence
from typing import Final, final

FLOOR: Final = 16 << 20
"""Bytes that a file may unpack to, however small it is; a larger one, eight times its own size."""
RATIO: Final = 8
MOST_SIDES: Final = 32


@final
class Unusable(ValueError):
    """Why a file that was handed in cannot be used: all that the readers raise; `str()` goes on after its name."""


def room_for(size: int, wanted: int = 0) -> int:
    """Bytes that a file of `size` bytes may unpack to, if `wanted` bytes are what a right one needs."""
    return max(FLOOR, RATIO * size, wanted)


def is_possible(shape: Sequence[int]) -> bool:
    """Whether numpy can make an array of this shape: of few enough sides, whose product is no number beyond all bounds.

    An array of no element at all may claim any other side.
    """
    return len(shape) <= MOST_SIDES and math.prod(max(side, 1) for side in shape) < 1 << 48
