"""Strategies written as code, with parts that can be wider or narrower.

A form is a text with slots. Each slot has options from narrow to wide; the narrowest ones draw only what was seen. The
trial (solved/trial.py) widens a slot as long as the solution still answers.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from viva.compare.normalize import is_tensor
from viva.grading.functions import is_literal

_LARGE_AXIS: Final = 8
_LARGEST_AXIS: Final = 64
"""A longer axis is drawn shorter than the notebook has it: arrays are drawn number by number."""
_MOST_CHOICES: Final = 8
NUMPY: Final = "import numpy as np"
_SIZE_NAMES: Final = "nmkdpqrst"


@dataclass(slots=True)
class Slot:
    """A part of a form that can be wider or narrower."""

    options: list[str]
    """From narrow to wide."""
    at: int = 0
    may_be_random: bool = True
    """Whether it may be widened if the answers are random then."""

    @property
    def text(self) -> str:
        """Return the option that is chosen."""
        return self.options[self.at]


@dataclass(slots=True)
class SizeSlot:
    """The size of an axis or of a list: shared with others by name, or its own."""

    seen: tuple[int, ...]
    """The size in each call."""
    group: int = -1
    fixed: bool = False
    of_list: bool = False
    free: bool = False
    """Whether a list may have any length, including 0."""

    @property
    def ends(self) -> tuple[int, int]:
        """Return the smallest and the largest size to draw; a large array of the notebook is not repeated."""
        low, high = min(self.seen), max(self.seen)
        if self.of_list:
            return low, high
        low = low if low <= _LARGEST_AXIS else _LARGE_AXIS
        return low, max(low, min(high, _LARGE_AXIS))


@dataclass(slots=True)
class ChoiceSlot:
    """A value of each call of the notebook: a function, or what belongs to the function of the same call."""

    seen: tuple[str, ...]
    """The code of the value in each call."""
    strategy: str = "functions"
    """The strategy that gets them; empty if the form writes it."""
    more: tuple[str, ...] = ()
    """Other functions that the solution answers as well."""
    with_more: bool = False


Part = str | Slot | SizeSlot | ChoiceSlot
Form = list[Part]


@dataclass(slots=True)
class Forms:
    """The forms of all arguments of one function."""

    arguments: list[tuple[str, bool, Form]] = field(default_factory=list)
    """Name, whether it is passed by keyword only, and its form."""
    texts: frozenset[str] = frozenset()
    """The texts that the solution's code names: choices such as "mean"."""
    constants: frozenset[str] = frozenset()
    """All texts in the solution's code: keys of dictionaries, among others."""
    vocabulary: frozenset[str] = frozenset()
    """The keys of large dictionaries, such as words that have vectors."""
    drawn: frozenset[str] = frozenset()
    """Those of them that are drawn; they are among the texts."""
    refuses: bool = False
    """Whether the solution raises exceptions of its own, so that it refuses some arguments."""
    evaluates: bool = False
    """Whether the solution calls a method `eval`, which networks have."""
    required: int = 0
    """How many arguments must be given."""
    namespace: Mapping[str, Any] = field(default_factory=dict)
    """The names that the notebook defines; the key has its classes."""
    needed: list[str] = field(default_factory=list)
    """Statements that define what functions of the notebook use: imports, constants, other functions."""

    @property
    def names(self) -> list[str]:
        """Return the names of the arguments."""
        return [name for name, _, _ in self.arguments]

    @property
    def slots(self) -> list[Slot]:
        """Return the slots that can be widened."""
        return [part for _, _, form in self.arguments for part in form if isinstance(part, Slot)]

    @property
    def sizes(self) -> list[SizeSlot]:
        """Return the sizes."""
        return [part for _, _, form in self.arguments for part in form if isinstance(part, SizeSlot)]

    @property
    def definitions(self) -> list[str]:
        """Return the statements that define what the forms use."""
        added = any("np." in text for choice in self.choices if choice.with_more for text in choice.more)
        return list(dict.fromkeys([*self.needed, *([NUMPY] if added else [])]))

    @property
    def choices(self) -> list[ChoiceSlot]:
        """Return the values that belong to one call."""
        return [part for _, _, form in self.arguments for part in form if isinstance(part, ChoiceSlot)]

    def group_sizes(self) -> None:
        """Give sizes that were equal in every call one name; an axis of an array that always had size 1 keeps it."""
        groups: dict[tuple[int, ...], int] = {}
        for size in self.sizes:
            size.group = groups.setdefault(size.seen, len(groups))
            size.fixed = not size.of_list and set(size.seen) == {1}

    def written(self) -> list[str]:
        """Return the arguments' strategies as code."""
        order = dict.fromkeys(size.group for size in self.sizes if not (size.fixed or size.free))
        names = dict(zip(order, _SIZE_NAMES + _SIZE_NAMES.upper(), strict=False))
        calls = list(dict.fromkeys(zip(*(slot.seen for slot in self.choices), strict=True)))[:_MOST_CHOICES]
        columns = dict(zip(map(id, self.choices), zip(*calls, strict=True), strict=True)) if calls else {}
        return ["".join(_written(part, names, columns) for part in form) for _, _, form in self.arguments]


def _written(part: Part, names: Mapping[int, str], columns: Mapping[int, tuple[str, ...]]) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, ChoiceSlot):
        chosen = [*columns[id(part)], *(part.more if part.with_more else ())]
        given = ", ".join(chosen)
        return f"{part.strategy}({given})" if part.strategy else given
    if isinstance(part, Slot):
        return part.text
    if part.free:
        return f"(0, {max(8, *part.seen)})"
    if not part.fixed:
        return f'"{names.get(part.group, "n")}"'
    low, high = part.ends
    return str(low) if low == high else f"({low}, {high})"


def built_form(maker: str, parts: Iterable[Form]) -> Form:
    """Return how to draw an object from what its maker gets."""
    return [f"built({maker}", *(piece for part in parts for piece in (", ", *part)), ")"]


def code(value: object) -> str:
    """Return a literal as it is usually written, with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value.isprintable() else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(code, value))}]"
    return repr(value)


def source_code(value: Any) -> str:
    """Return a value as it is written in a test; empty if it cannot be written on a line."""
    maker = "np.array" if isinstance(value, np.ndarray) else "torch.tensor" if is_tensor(value) else ""
    plain = value.tolist() if maker else value
    if not is_literal(repr(plain)) or (plain == [] and maker):  # the type of an empty array would be another one
        return ""
    return f"{maker}({plain})" if maker else repr(plain)
