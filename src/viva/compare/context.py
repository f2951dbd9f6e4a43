"""The options of one comparison: the author's tolerances, and what does not count as a difference."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, final

SYMMETRIES: Final = ("polarity", "sign", "order", "spaces", "index")


@final
@dataclass(frozen=True, slots=True)
class Context:
    """The author's options for one `agree`."""

    rtol: float | None = None
    atol: float | None = None
    polarity: bool = False
    """Masks agree whatever their convention: 1 masked, 1 visible, bool, or 0 and -inf."""
    sign: bool = False
    """A number or array agrees with its negative."""
    order: bool = False
    """The outermost list, or the rows of a data frame, agree with any reordering."""
    spaces: bool = False
    """Texts agree when only the white space between their words differs."""
    index: bool = False
    """Data frames and series agree whatever their index."""

    @classmethod
    def of(cls, rtol: float | None, atol: float | None, up_to: str | Collection[str]) -> "Context":
        """Check the author's options and return them.

        Raises:
            ValueError: an unknown symmetry, a negative or undefined tolerance.
        """
        chosen = {up_to} if isinstance(up_to, str) else set(up_to)
        if unknown := sorted(chosen.difference(SYMMETRIES)):
            raise ValueError(f"up_to={unknown[0]!r}: expected some of {', '.join(SYMMETRIES)}.")
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None and not value >= 0:
                raise ValueError(f"{name}={value!r}: expected a number, zero or more.")
        return cls(rtol, atol, **dict.fromkeys(chosen, True))
