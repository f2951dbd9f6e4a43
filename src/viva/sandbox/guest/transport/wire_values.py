"""What crosses the door beside plain Python and numpy values, and how much of anything may cross."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class WireError(Exception):
    """What arrived is no message of ours, or passes a cap; `str()` says which in one sentence."""


class TooLarge(Exception):
    """A value is larger than what may cross the door; `str()` is one sentence for its author."""


class Caps(NamedTuple):
    """Limits of one message. A receiver refuses what passes them before it makes room for it."""

    message_bytes: int = 8 << 20
    """The msgpack part: numbers, texts, structure, small arrays."""
    buffer_bytes: int = 256 << 20
    """The arrays, all together."""
    buffers: int = 4096
    depth: int = 40
    """Containers within containers."""
    containers: int = 400_000
    items: int = 1_000_000
    """Items of all containers together; 512 x 512 nested lists must pass."""
    int_bits: int = 1 << 20
    fraction_bits: int = 1 << 16
    """Of each part: reducing a fraction takes quadratic time."""
    decimal_digits: int = 10_000
    decimal_exponent: int = 100_000
    """Either way: as an integer, Decimal("1e999999999") fills the memory and takes for ever."""


CAPS = Caps()
DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SU][1-9][0-9]{0,8}|[mM]8(\[([1-9][0-9]{0,8})?[a-zA-Z]{1,2}\])?)"
)
"""Names of array types that may cross: numbers, booleans, texts, dates; nothing that holds objects or fields.

Dates count in units of one or more: numpy divides by the number, and a process that divides by 0 ends.
"""


class Ref:
    """An object that stays in the box. Outside it is what the box says of the object; inside it becomes the object."""

    __slots__ = ("id", "text", "type_name")

    def __init__(self, id: int, type_name: str = "", text: str = "") -> None:
        self.id, self.type_name, self.text = id, type_name, text

    def __eq__(self, other: object) -> bool:
        return type(other) is Ref and (self.id, self.type_name, self.text) == (other.id, other.type_name, other.text)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Ref({self.id}, {self.type_name!r}, {self.text!r})"


class Tensor:
    """An array that arrives in the box as a torch tensor of type `dtype` ("float32", "bfloat16", ...)."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: Any, dtype: str) -> None:
        self.array, self.dtype = array, dtype

    def __repr__(self) -> str:
        return f"Tensor({self.array!r}, {self.dtype!r})"
