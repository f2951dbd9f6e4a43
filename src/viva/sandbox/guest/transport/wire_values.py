"""The values of messages other than plain Python and numpy values, and the caps of a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

if TYPE_CHECKING:
    import numpy as np

    Dtype = np.dtype[np.generic]
    Array = np.ndarray[Tuple[int, ...], Dtype]
    Bytes = np.ndarray[Tuple[int, ...], np.dtype[np.uint8]]


class WireError(Exception):
    """What arrived is not a valid message, or exceeds a cap; `str()` says which in one sentence."""


class TooLarge(Exception):
    """A value is too large for a message; `str()` is one sentence for its author."""


class Caps(NamedTuple):
    """Limits of one message. A receiver refuses a larger one before it allocates memory for it."""

    message_bytes: int = 8 << 20
    """The msgpack part: numbers, texts, structure, small arrays."""
    buffer_bytes: int = 256 << 20
    """All arrays together."""
    buffers: int = 4096
    depth: int = 40
    """Nested containers."""
    containers: int = 400_000
    items: int = 1_000_000
    """Items of all containers together; 512 x 512 nested lists must fit."""
    int_bits: int = 1 << 20
    fraction_bits: int = 1 << 16
    """The most bits of each part: reducing a fraction takes quadratic time."""
    decimal_digits: int = 10_000
    decimal_exponent: int = 100_000
    """In either direction: as an integer, Decimal("1e999999999") would fill the memory and take forever."""


def too_large(what: str, most: str) -> str:
    """Return the sentence of a TooLarge."""
    return f"The value is too large to be compared: {what}; at most {most}."


def listed(content: object, *kinds: object) -> List[Any]:
    """Return what crossed as a list, with items of these exact types if any are named (None: any type).

    Raises:
        WireError: it is not such a list.
    """
    if type(content) is not list or (kinds and len(content) != len(kinds)):
        raise WireError("content of no valid form")
    for item, kind in zip(content, kinds):
        if kind is not None and type(item) is not kind:
            raise WireError("content of no valid form")
    return content


CAPS = Caps()
DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SU][1-9][0-9]{0,8}|[mM]8(\[([1-9][0-9]{0,8})?[a-zA-Z]{1,2}\])?)"
)
"""Names of the allowed array types: numbers, booleans, texts, dates; none that holds objects or fields.

The unit of a date has a count of at least one: numpy divides by it, and a division by 0 would end the process.
"""


class Ref:
    """A reference to an object that stays in the box; outside, it holds what the box says about the object."""

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

    def __init__(self, array: Array, dtype: str) -> None:
        self.array, self.dtype = array, dtype

    def __repr__(self) -> str:
        return f"Tensor({self.array!r}, {self.dtype!r})"


class Code:
    """A value that arrives in the box as what its code gives: a function, or an object made for one call.

    Where the examiner made it, a function can be called as well, and `here` makes an object.
    """

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        expression: str,
        statements: str = "",
        function: Optional[Callable[..., Any]] = None,
        make: Optional[Callable[[Sequence[object]], object]] = None,
        shown: str = "",
    ) -> None:
        """Take the code.

        Args:
            expression: Python that gives the value: a lambda, a name, or a call that makes an object.
            statements: Python that comes before it: imports, and what else the expression uses.
            function: the function itself; None in the box, which makes its own.
            make: makes the object, and gets those that were made before it for the same call; None for a function.
            shown: the expression as people read it, if that is another one.
        """
        self.expression, self.statements, self.make = expression, statements, make
        self.shown = shown or expression
        if function is not None:
            self.__wrapped__ = function  # where `inspect.signature` looks
            self.__name__ = getattr(function, "__name__", "function")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.__wrapped__(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return type(other) is Code and (self.expression, self.statements) == (other.expression, other.statements)

    def __hash__(self) -> int:
        return hash((self.expression, self.statements))

    def __deepcopy__(self, memo: object) -> "Code":
        return self

    def here(self, before: Sequence[object] = ()) -> object:
        """Return the function, or a new object, in the examiner's process.

        Args:
            before: the objects that were made before it for the same call.
        """
        return self if self.make is None else self.make(before)

    def __repr__(self) -> str:
        return self.shown
