"""One cell of a table, as students write predictions: 1, "1", "1.0", "tensor(1)", True, "positive", "[0.1, 0.9]"."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from viva.compare.show import show
from viva.grading.artifacts.unusable import Unusable

_LONGEST_LIST: Final = 40_000
# Nothing may match in two ways: spaces between three repetitions would cost the third power of their number.
_WRAPPED: Final = re.compile(
    r"(?:tensor|np\.\w{1,12})\(\s*(?:(\[[^\[\]()]*\])\s*|([^\s\[\](),][^\[\](),]*)?)(?:,[^()]*)?\)"
)
_LIST: Final = re.compile(r"\[([^\[\]]*)\]")
_WHOLE: Final = re.compile(r"[+-]?\d{1,300}")
_NUMBER: Final = re.compile(
    r"[+-]?(\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,4})?|[+-]?(inf|infinity|nan)", re.I
)
_TRUTH: Final[dict[str, int]] = {"true": 1, "false": 0}


@dataclass(frozen=True)
class Classes:
    """The names and numbers that a class may have."""

    count: int | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, classes: int | Sequence[str] | None) -> "Classes":
        """Return the classes that the author states: how many there are, or their names in the order of their numbers.

        Raises:
            ValueError: fewer than two, or two of one name.
        """
        if classes is None:
            return cls()
        found = cls(classes) if isinstance(classes, int) else cls(len(classes), tuple(classes))
        if found.count is None or found.count < 2 or len(found._by_name) != len(found.names):
            raise ValueError(f"predictions(classes={classes!r}): expected two or more classes of different names.")
        return found

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {folded(name): number for number, name in enumerate(self.names)}

    @property
    def expected(self) -> str:
        """Return what is expected, in words: "a class from 0 to 4 or its name"."""
        if self.count is None:
            return "the number of a class, 0 or more"
        some = ", ".join(map(show, self.names[:6])) + (", …" if len(self.names) > 6 else "")
        return f"a class from 0 to {self.count - 1}" + (f" or its name ({some})" if self.names else "")

    def number(self, cell: object) -> int:
        """Return the class that a cell names.

        Raises:
            Unusable: it names no class.
        """
        value = read_cell(cell)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        for form in (cell, value):
            if isinstance(form, str | int) and (named := self._by_name.get(_name(form))) is not None:
                return named
        if isinstance(value, str | bool):
            value = _TRUTH.get(_name(value), value)
        if isinstance(value, float):
            raise Unusable(f"says {show(value)}; expected {self.expected}, or a score for each class.")
        if not isinstance(value, int) or not 0 <= value < (self.count or 1 << 62):
            raise Unusable(f"says {show(cell)}; expected {self.expected}.")
        return value

    def are_all(self, cells: Sequence[str]) -> bool:
        """Return whether the cells name every class once, as the header of a table of scores does."""
        return len(cells) == len(self.names) and {folded(cell) for cell in cells} == self._by_name.keys()

    def is_class(self, cell: object) -> bool:
        """Return whether a cell names a class."""
        try:
            return self.number(cell) >= 0
        except Unusable:
            return False

    def is_one(self, cell: object) -> bool:
        """Return whether a cell can be a prediction: a class, a score, or a list of scores."""
        return isinstance(read_cell(cell), int | float | list) or self.is_class(cell)


def folded(text: str) -> str:
    """Return a name without what does not distinguish names: case, and white space around it."""
    return text.strip().casefold()


def read_cell(cell: object) -> Any:
    """Return a number, a list of numbers, or the cell itself if it is neither; a list of one is its item."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if isinstance(cell, list):
        return cell[0] if len(cell) == 1 else cell
    if not isinstance(cell, str) or len(cell) > _LONGEST_LIST:
        return cell
    text = cell.strip()
    if match := _WRAPPED.fullmatch(text):
        text = (match[1] or match[2] or "").strip()
    if match := _LIST.fullmatch(text):
        parts = [_number(part) for part in match[1].replace(",", " ").split()]
        if not parts or None in parts:
            return cell
        return parts[0] if len(parts) == 1 else parts
    number = _number(text)
    return cell if number is None else number


def score(cell: object) -> float:
    """Return a score: any number except NaN, the infinite ones included.

    Raises:
        Unusable: the cell holds no score.
    """
    value = read_cell(cell)
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise Unusable(f"says {show(cell)}; expected a score, a number.")
    return number


def _number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else None


def _name(cell: str | int) -> str:
    """Return a cell as it is compared with names; "" for a whole number too long for Python to write out."""
    return folded(str(cell)) if isinstance(cell, str) or abs(cell) < 1 << 62 else ""
