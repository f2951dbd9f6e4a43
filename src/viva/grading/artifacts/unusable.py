"""A file that cannot be used."""

from typing import Final, final

FLOOR: Final = 16 << 20
"""Bytes that a file may unpack to, however small it is; a larger one, eight times its own size."""
RATIO: Final = 8


@final
class Unusable(ValueError):
    """Why a file that was handed in cannot be used: all that the readers raise; `str()` goes on after its name."""


def room_for(size: int, wanted: int = 0) -> int:
    """Bytes that a file of `size` bytes may unpack to, if `wanted` bytes are what a right one needs."""
    return max(FLOOR, RATIO * size, wanted)
