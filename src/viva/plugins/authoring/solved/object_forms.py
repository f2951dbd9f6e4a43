"""How to draw objects of libraries that a function takes: queues, counters, generators of random numbers, images."""

import collections
import datetime
import inspect
import io
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from viva.plugins.authoring.solved.forms import Form, Forms, Slot, built_form, code

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
    parts: Callable[[Any], Sequence[object]]
    """Returns what the maker gets."""


_OF_STANDARD_LIBRARY: Final[dict[type, _Kind]] = {
    collections.Counter: _Kind("Counter", "from collections import Counter", lambda value: [list(value.elements())]),
    collections.deque: _Kind("deque", "from collections import deque", lambda value: [list(value)]),
    io.StringIO: _Kind("io.StringIO", "import io", lambda value: [value.getvalue()]),
}
_OF_TORCH: Final[dict[str, Callable[[Any], Sequence[object]]]] = {
    "TensorDataset": lambda value: value.tensors,
    "DataLoader": lambda value: [value.dataset, value.batch_size],
}
"""By class of torch.utils.data, what it gets."""
_MODES_OF_IMAGES: Final = ("L", "RGB", "RGBA")
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
    if _is_in("torch.optim", kind):
        return _optimizers(values, forms)
    found = _OF_STANDARD_LIBRARY.get(kind) or _sparse(kind) or _of_torch(kind) or _image(values)
    if found is None:
        return None
    forms.needed.append(found.needed)
    return built_form(found.maker, [form_of(column) for column in zip(*map(found.parts, values), strict=True)])


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
    if not _is_in("scipy.sparse", kind):
        return None
    return _Kind(f"scipy.sparse.{kind.__name__}", "import scipy.sparse", lambda value: [value.toarray()])


def _of_torch(kind: type) -> _Kind | None:
    """Return the row of a data set or loader of torch."""
    name = kind.__name__
    if name not in _OF_TORCH or not _is_in("torch.utils.data", kind):
        return None
    return _Kind(name, f"from torch.utils.data import {name}", _OF_TORCH[name])


def _optimizers(values: Sequence[Any], forms: Forms) -> Form:
    """Return how to draw optimizers like these, and with other rates. All parameters are in one group."""
    kind = type(values[0])
    forms.needed.append("import torch")
    usual = {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}
    options = []
    for name in usual.keys() & values[0].defaults.keys():
        seen = list(dict.fromkeys(value.defaults[name] for value in values))
        if name == "lr" and isinstance(seen[0], float):
            seen = list(dict.fromkeys([*seen, seen[0] / 2, 2 * seen[0]]))
        if seen != [usual[name]]:
            options.append(f", {name}=sampled_from({code(seen)})" if seen[1:] else f", {name}=just({code(seen[0])})")
    return [f"optimizers(torch.optim.{kind.__name__}{''.join(sorted(options))})"]


def _image(values: Sequence[Any]) -> _Kind | None:
    """Return the row of images of PIL, whose classes differ by the format of their files."""
    module = sys.modules.get("PIL.Image")
    if module is None or not all(isinstance(v, module.Image) and v.mode in _MODES_OF_IMAGES for v in values):
        return None
    return _Kind("Image.fromarray", "from PIL import Image", lambda value: [np.asarray(value)])


def _is_in(module: str, kind: type) -> bool:
    return getattr(sys.modules.get(module), kind.__name__, None) is kind
