"""How to draw objects of libraries that a function takes: queues, counters, generators of random numbers, dates."""

import collections
import datetime
import io
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from viva.authoring.solved.forms import Form, Forms, Slot, code

_SEEDS: Final = "integers(0, 99)"


class FormOf(Protocol):
    """Returns how to draw values like some others."""

    def __call__(self, values: Sequence[object], *, per_call: bool = True) -> Form:
        """Return the form."""
        ...


@dataclass(frozen=True, slots=True)
class _Kind:
    """One class of a library."""

    maker: str
    """The class that makes an object, as a test names it."""
    needed: str
    """The import that the test needs."""
    parts: Callable[[Any], object]
    """Returns what the maker gets."""


_OF_STANDARD_LIBRARY: Final[dict[type, _Kind]] = {
    collections.Counter: _Kind("Counter", "from collections import Counter", lambda value: list(value.elements())),
    collections.deque: _Kind("deque", "from collections import deque", list),
    io.StringIO: _Kind("io.StringIO", "import io", lambda value: value.getvalue()),
}
_RANDOM: Final = {
    np.random.Generator: ("np.random.default_rng", "import numpy as np"),
    np.random.RandomState: ("np.random.RandomState", "import numpy as np"),
    random.Random: ("random.Random", "import random"),
}
"""By class, what makes a generator of random numbers from a seed, and the import that it needs."""


def form_of_objects(values: Sequence[Any], forms: Forms, form_of: FormOf) -> Form | None:
    """Return how to draw objects of one class like these; None for a class that is not known.

    Args:
        values: the objects, all of one class.
        forms: gets the imports that the test needs.
        form_of: how to draw what the class gets.
    """
    kind = type(values[0])
    if kind is range:
        return _ranges(values, form_of)
    if kind is datetime.date:
        forms.needed.append("import datetime")
        return [form_of_days(min(values), max(values)), ".map(datetime.datetime.date)"]
    if kind in _RANDOM:
        maker, needed = _RANDOM[kind]
        forms.needed.append(needed)
        return [f"built({maker}, {_SEEDS})"]
    found = _OF_STANDARD_LIBRARY.get(kind) or _sparse(kind)
    if found is None:
        return None
    forms.needed.append(found.needed)
    return [f"built({found.maker}, ", *form_of([found.parts(value) for value in values]), ")"]


def form_of_days(first: datetime.date, last: datetime.date) -> Slot:
    """Return how to draw days from the first to the last one, and up to a year later."""
    ends = [last, datetime.date.fromordinal(min(last.toordinal() + 365, datetime.date.max.toordinal()))]
    return Slot([f"days({code(f'{first:%Y-%m-%d}')}, {code(f'{end:%Y-%m-%d}')})" for end in ends])


def is_random(value: object) -> bool:
    """Return whether a value draws random numbers."""
    return type(value) in _RANDOM


def _ranges(values: Sequence[range], form_of: FormOf) -> Form:
    ends = [form_of([getattr(value, end) for value in values], per_call=False) for end in ("start", "stop")]
    steps = [value.step for value in values]
    step: Form = [] if set(steps) == {1} else [", ", *form_of(steps, per_call=False)]
    return ["built(range, ", *ends[0], ", ", *ends[1], *step, ")"]


def _sparse(kind: type) -> _Kind | None:
    """Return the row of a class of scipy's sparse matrices or arrays."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or getattr(sparse, kind.__name__, None) is not kind:
        return None
    return _Kind(f"scipy.sparse.{kind.__name__}", "import scipy.sparse", lambda value: value.toarray())
