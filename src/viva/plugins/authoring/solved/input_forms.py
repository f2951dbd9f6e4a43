"""How to draw a function's arguments: as a form (solved/forms.py), from the values that the notebook passes."""

import contextlib
import datetime
import inspect
import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

import numpy as np

from viva.compare.frames import plain_or_none
from viva.compare.normalize import is_tensor, plain
from viva.grading.functions import NoCode
from viva.plugins.authoring.solved.forms import NUMPY, ChoiceSlot, Form, Forms, Part, SizeSlot, Slot, code, source_code
from viva.plugins.authoring.solved.function_code import (
    is_function,
    offer_more_functions,
    passes_known_functions,
    written_function,
)
from viva.plugins.authoring.solved.network_code import is_network
from viva.plugins.authoring.solved.object_forms import form_of_days, form_of_objects
from viva.plugins.authoring.solved.own_object_forms import form_of_own_objects
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.plugins.authoring.solved.scalar_forms import (
    LARGE,
    LARGEST,
    MOST_CHOICES,
    Undrawable,
    floats_form,
    integers_form,
    strings_form,
)
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.wire import Frame

_MOST_GROUPS: Final = 8
"""Texts of a column that repeat are the names of groups if there are no more of them."""
_LONG: Final = 4
"""A shorter list may be sorted by chance."""
_AXES_OF_COLOURS: Final = 3
_COLOURS: Final = (3, 4)
"""The sizes of the last axis of images in colour, without and with transparency."""
_SURE: Final = 6
"""A single array as long as that is not sorted by chance."""


def forms_of(
    function: Callable[..., object],
    calls: Sequence[inspect.BoundArguments],
    recorded: Recorded,
    *,
    texts: frozenset[str] = frozenset(),
    constants: frozenset[str] = frozenset(),
    refuses: bool = False,
    tied: bool = False,
) -> Forms:
    """Return how to draw the arguments of a function that the notebook has called.

    Args:
        function: the solution's function.
        calls: the arguments of its calls.
        recorded: what the notebook defines, for functions that it passes.
        texts: the texts with which its code compares something.
        constants: all texts in its code.
        refuses: whether it raises exceptions of its own.
        tied: whether all arguments are those of one call, if functions are among them.

    Raises:
        Undrawable: an argument has a type that cannot be drawn.
    """
    forms = Forms(texts=texts, constants=constants, refuses=refuses, namespace=recorded.namespace)
    compiled = getattr(inspect.unwrap(function), "__code__", None)
    forms.evaluates = compiled is not None and "eval" in compiled.co_names
    calls = [call for call in calls if passes_known_functions(call, recorded)] or calls
    forms.vocabulary, forms.drawn = _vocabulary(calls)
    forms.texts |= forms.drawn
    parameters = list(inspect.signature(function).parameters.values())
    passed = {name for call in calls for name in call.arguments}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            if parameter.name in passed:
                raise Undrawable(f"`{'*' * (1 + (parameter.kind is parameter.VAR_KEYWORD))}{parameter.name}`")
            continue
        keyword = parameter.kind is parameter.KEYWORD_ONLY
        if parameter.name in passed:
            values = [call.arguments.get(parameter.name, parameter.default) for call in calls]
            form = _Reader(forms, parameter, recorded).form(values)
            if tied and len(form) == 1 and not isinstance(form[0], ChoiceSlot) and all(map(source_code, values)):
                form = [ChoiceSlot(tuple(map(source_code, values)), "matching")]
        elif parameter.default is parameter.empty:
            raise Undrawable(f"`{parameter.name}`")
        else:
            form = _of_default(parameter.default, forms)
        forms.arguments.append((parameter.name, keyword, form))
        forms.required += parameter.default is parameter.empty
    while forms.arguments and forms.arguments[-1][2] == [_LEFT_OUT]:
        forms.arguments.pop()
    if any(form == [_LEFT_OUT] for _, _, form in forms.arguments):
        defaults = {parameter.name: parameter.default for parameter in parameters}
        forms.arguments = [
            (name, keyword, _constant(defaults[name]) if form == [_LEFT_OUT] else form)
            for name, keyword, form in forms.arguments
        ]
    forms.group_sizes()
    offer_more_functions(forms, calls)
    return forms


_MOST_KEYS: Final = 8
"""A dictionary with more keys is one of words, of which a test needs no more."""
_FEW: Final = 4
"""From so many values on, all of which are 0 or 1, others are not meant."""
_LEFT_OUT: Final = ""
"""The form of an argument that is not passed, because only its default is known."""


def _vocabulary(calls: Sequence[inspect.BoundArguments]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys that all large dictionaries have, and a few of them: first those that are passed as texts.

    None are returned for dictionaries of plain values whose keys are not passed.
    """
    values = [value for call in calls for value in call.arguments.values()]
    large = [value for value in values if isinstance(value, dict) and _is_look_up(value)]
    keys = frozenset[str](large[0]).intersection(*large) if large else frozenset[str]()
    passed = [text for value in values for text in _texts_in(value) if text in keys] if keys else []
    if not passed and not any(_is_array(next(iter(value.values()))) for value in large):
        return frozenset(), frozenset()
    return keys, frozenset(list(dict.fromkeys([*passed, *sorted(keys)]))[:_MOST_KEYS])


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _is_look_up(value: dict[Any, Any]) -> bool:
    """Return whether a dictionary holds something for each of many words."""
    return (
        len(value) > _MOST_KEYS
        and all(isinstance(key, str) for key in value)
        and len({*map(type, value.values())}) == 1
    )


def _texts_in(value: object) -> Iterable[str]:
    """Yield the texts in an argument: itself, those of a list, those of a data frame."""
    items: Iterable[Any] = sorted(value, key=repr) if isinstance(value, set) else [value]
    if isinstance(value, list | tuple):
        items = value
    if (row := library_type(type(value))) is not None and row.module == "pandas" and row.name != "Index":
        items = itertools.chain.from_iterable(row.plain(value).data)
    return (item for item in items if isinstance(item, str))


def _of_default(default: object, forms: Forms) -> Form:
    """Return how to draw an argument that the notebook never passes: its default, and what is like it."""
    if isinstance(default, bool):
        return ["booleans()"]
    if isinstance(default, str) and default in forms.texts and len(forms.texts) <= MOST_CHOICES:
        return [Slot([f"just({code(default)})", f"sampled_from({code(sorted(forms.texts))})"])]
    if isinstance(default, int) and 0 < default <= LARGEST:
        return [Slot([f"just({default})", f"integers(1, {default + 2})"])]
    if isinstance(default, float) and 0.01 <= abs(default) <= LARGEST:
        return [Slot([f"just({default})", f"sampled_from([{default}, {default / 2:g}, {default * 2:g}])"])]
    return [_LEFT_OUT]


def _constant(default: object) -> Form:
    return [f"just({code(default)})"]


class _Reader:
    """Reads the values of one parameter."""

    def __init__(self, forms: Forms, parameter: inspect.Parameter, recorded: Recorded) -> None:
        self._forms, self._name, self._recorded = forms, parameter.name, recorded

    def form(self, values: Sequence[object], *, per_call: bool = True) -> Form:
        """Return how to draw values like these.

        Args:
            values: the values seen.
            per_call: whether there is one for each call, so that their sizes can be compared with others.

        Raises:
            Undrawable: viva cannot draw such values.
        """
        present = [value for value in values if value is not None]
        if not present:
            return ["none()"]
        if len(present) < len(values):
            return ["none() | ", *self.form(present, per_call=False)]
        if all(isinstance(v, bool | np.bool_) for v in values):
            return ["booleans()"]
        if all(isinstance(v, numbers.Integral) for v in values):
            return integers_form([int(v) for v in values], self._forms, alone=per_call)  # type: ignore[call-overload]  # integral by the check
        if all(isinstance(v, numbers.Real) for v in values):
            return floats_form([float(v) for v in values], self._name)  # type: ignore[arg-type]  # real by the check
        if all(isinstance(v, str) for v in values):
            return strings_form([str(v) for v in values], self._forms, self._name)
        if all(map(is_function, values)) or all(is_network(v) and not self._is_own(type(v)) for v in values):
            return self._functions(values, per_call=per_call)
        return self._containers(values, per_call=per_call)

    def _functions(self, values: Sequence[Any], *, per_call: bool) -> Form:
        kind = "network" if is_network(values[0]) else "function"
        written = []
        for value in values:
            try:
                text, needed = written_function(value, self._recorded)
            except NoCode as why:
                raise Undrawable(f"`{self._name}` (a {kind}: {str(why).rstrip('.')})") from None
            written.append(text)
            self._forms.needed += needed
        if not per_call:
            return [" | ".join(f"{kind}s({text})" for text in dict.fromkeys(written))]  # each is drawn by itself
        if kind == "function" or not any(True for value in values for _ in value.parameters()):
            return [ChoiceSlot(tuple(written), f"{kind}s")]
        return self._networks([ChoiceSlot(tuple(written), "")])

    def _containers(self, values: Sequence[Any], *, per_call: bool) -> Form:
        first = values[0]
        kinds = list(dict.fromkeys(type(v) for v in values))
        if len(kinds) > 1:
            return _either([self.form([v for v in values if type(v) is kind], per_call=False) for kind in kinds])
        if isinstance(first, np.ndarray) or is_tensor(first):
            return self._array(values, per_call=per_call)
        if (objects := self._objects(values)) is not None:
            return objects
        if (row := library_type(type(first))) is not None and row.module == "pandas" and row.name != "Index":
            return self._frame([row.plain(v) for v in values], per_call=per_call)
        if isinstance(first, datetime.datetime):
            return self._days(values)
        if isinstance(first, list):
            return self._list(values, per_call=per_call)
        if isinstance(first, tuple) and len({len(v) for v in values}) == 1:
            columns = [self.form([v[place] for v in values], per_call=per_call) for place in range(len(first))]
            return ["tuples(", *_joined(columns), ")"]
        if isinstance(first, tuple):
            return [*self._list([list(v) for v in values], per_call=per_call), ".map(tuple)"]
        if isinstance(first, set | frozenset):
            elements = self.form([item for v in values for item in sorted(v, key=repr)], per_call=False)
            return ["sets(", *elements, f", max_size={_most(values) + 2})"]
        if isinstance(first, dict):
            return self._dict(values, per_call=per_call) if any(values) else ["builds(dict)"]
        raise Undrawable(f"`{self._name}` (of type {type(first).__name__})")

    def _dict(self, values: Sequence[dict[Any, Any]], *, per_call: bool) -> Form:
        first = values[0]
        from_vocabulary = bool(self._forms.drawn) and all(map(_is_look_up, values))
        if first and (from_vocabulary or self._has_fixed_keys(values)):
            keys = sorted(self._forms.drawn) if from_vocabulary else list(first)
            self._forms.texts |= set(keys)  # another argument may choose among them
            named = [[f"{code(key)}: ", *self.form([v[key] for v in values], per_call=per_call)] for key in keys]
            return ["fixed_dictionaries({", *_joined(named), "})"]
        keys = self.form([key for v in values for key in v], per_call=False)
        items = self.form([item for v in values for item in v.values()], per_call=False)
        low = min(len(v) for v in values)
        least = Slot([f", min_size={low}", ""]) if low else ""
        return ["dictionaries(", *keys, ", ", *items, least, f", max_size={_most(values) + 2})"]

    def _objects(self, values: Sequence[Any]) -> Form | None:
        """Return how to draw objects of a class of a library or of the notebook; None if viva cannot make them."""
        kind = type(values[0])
        if not self._is_own(kind):
            return form_of_objects(values, self._forms, self.form)
        form = form_of_own_objects(values, self.form, self._recorded)
        is_given = is_network(values[0]) and kind.__name__ not in self._recorded.written
        return self._networks(form) if form and is_given else form

    def _networks(self, form: Form) -> Form:
        """Return how to draw networks with the same weights on both sides; some with dropout if `eval()` is called."""
        dropout = [Slot(["", ", dropout=True"], may_be_random=False)] if self._forms.evaluates else []
        return ["networks(", *form, *dropout, ")"]

    def _is_own(self, kind: type) -> bool:
        """Return whether a class is the notebook's."""
        return kind.__module__ == "__main__" and self._recorded.namespace.get(kind.__name__) is kind

    def _has_fixed_keys(self, values: Sequence[dict[Any, Any]]) -> bool:
        """Return whether dictionaries are records, such as weights.

        They hold arrays, functions or values of several types, or the code names their keys.
        """
        if any(v.keys() != values[0].keys() for v in values) or not all(isinstance(key, str) for key in values[0]):
            return False
        items = [item for value in values for item in value.values()]
        return (
            len({type(item) for item in items}) > 1
            or any(_is_array(item) or is_function(item) for item in items)
            or values[0].keys() <= self._forms.constants
        )

    def _list(self, values: Sequence[list[Any]], *, per_call: bool) -> Form:
        items = [item for value in values for item in value]
        if not items:
            return ["builds(list)"]
        if all(isinstance(item, list) and item for item in items) and _is_regular(values):
            with contextlib.suppress(ValueError):
                tables = [np.array(value) for value in values]
                if all(table.ndim == 2 and table.dtype.kind in "biuf" for table in tables):
                    return ["rows", *self._array(tables, per_call=per_call, name="")]
        if all(isinstance(item, float) for item in items) and all(
            v and abs(math.fsum(v) - 1) < 1e-9 and min(v) >= 0 for v in values
        ):
            return ["distributions()"]
        elements = self.form(items, per_call=False)
        options = self._property(values)
        sizes = tuple(len(v) for v in values)
        if per_call and len(values) > 0:
            size: Part = SizeSlot(sizes, of_list=True)
        else:
            low = min(sizes)
            size = Slot([f"({low}, {max(sizes) + 2})", *([f"(0, {max(sizes) + 2})"] if low else [])])
        return ["sequences(", *elements, ", ", size, f"{options})"]

    def _property(self, values: Sequence[list[Any]]) -> str:
        """Return the options for lists that are always sorted, or always without repetitions, and not by chance."""
        long = [value for value in values if len(value) >= _LONG]
        if len(long) < 2:
            return ""
        with contextlib.suppress(TypeError):
            if all(value == sorted(value) for value in long):
                return ", ordered=True"
        if len(long) >= _LONG and all(len(set(map(repr, value))) == len(value) for value in long):
            return ", distinct=True"
        return ""

    def _array(self, values: Sequence[Any], *, per_call: bool, name: str | None = None) -> Form:
        """Return how to draw arrays; `name` is the strategy's, None for the one of their type."""
        tensor = is_tensor(values[0])
        plain = [v.detach().cpu().numpy() if tensor else v for v in values]
        kinds = {array.dtype.kind for array in plain}
        dimensions = sorted({array.ndim for array in plain} - {0})
        if not dimensions or not (kinds <= set("biuf") or kinds == {"U"}):
            raise Undrawable(f"`{self._name}` (arrays of no dimension, or not of numbers or texts)")
        if len({array.ndim for array in plain}) > 1:
            by_dimension = ([v for v, a in zip(values, plain, strict=True) if a.ndim == count] for count in dimensions)
            return _either([self._array(some, per_call=False, name=name) for some in by_dimension])
        flat = np.concatenate([array.ravel() for array in plain])
        options = _order_of([array.tolist() for array in plain]) if plain[0].ndim == 1 and kinds != {"b"} else ""
        shape: list[Part] = [SizeSlot(tuple(a.shape[axis] for a in plain)) for axis in range(plain[0].ndim)]
        if not per_call:
            ends = [size.ends for size in shape if isinstance(size, SizeSlot)]
            shape = [Slot([f"({low}, {high})", f"({low}, {high + 2})"]) for low, high in ends]
        if (
            name is None
            and plain[0].ndim == 2
            and kinds == {"f"}
            and not tensor
            and all(array.size and np.allclose(array.sum(-1), 1) and (array >= 0).all() for array in plain)
        ):
            return ["probability_rows()"]
        elements: Form = []
        after = ""
        if not tensor and plain[0].dtype == np.uint8:
            elements, after = [", elements=integers(0, 255)"], ".map(np.uint8)"
            self._forms.needed.append(NUMPY)
            if plain[0].ndim == _AXES_OF_COLOURS and all(array.shape[-1] in _COLOURS for array in plain):
                shape[-1] = str(plain[0].shape[-1])
        elif kinds == {"b"}:
            elements = [", elements=booleans()"]
        elif kinds == {"U"}:
            elements = [", elements=", *strings_form(flat.tolist(), self._forms, self._name)]
        else:
            elements = self._numbers(flat, kinds)
        if name is None:
            name = "tensors" if tensor else "arrays"
        return [f"{name}(", *itertools.chain.from_iterable((size, ", ") for size in shape[:-1]),
                shape[-1], *elements, *([Slot([options, ""])] if options else []), f"){after}"]  # fmt: skip

    def _numbers(self, flat: Any, kinds: set[str]) -> Form:
        """Return how to draw the elements of arrays of numbers, as an option; empty for any numbers."""
        if flat.size >= _FEW and set(flat.tolist()) == {0, 1}:
            # A mask, or labels: right answers may differ on what is neither.
            return [f", elements={'sampled_from([0.0, 1.0])' if 'f' in kinds else 'integers(0, 1)'}"]
        if kinds <= set("iu"):
            return [", elements=", *integers_form([int(v) for v in flat] or [0, 3], self._forms)]
        if flat.size and (float(flat.min()) >= 0 or float(np.abs(flat).max()) > LARGE):
            return [", elements=", *floats_form([float(v) for v in flat], self._name)]
        return []

    def _frame(self, values: Sequence[Frame], *, per_call: bool) -> Form:
        """Return how to draw data frames or series with the columns of these."""
        first = values[0]
        if any(value.columns != first.columns for value in values) and not first.is_series:
            raise Undrawable(f"`{self._name}` (data frames with different columns)")
        if not all(isinstance(label, str) for label in first.columns) and not first.is_series:
            raise Undrawable(f"`{self._name}` (a data frame whose labels are not all texts)")
        columns = [self._column([value.data[at] for value in values]) for at in range(len(first.columns))]
        sizes = tuple(len(value) for value in values)
        low, high = min(sizes), max(sizes)
        size: Part = SizeSlot(sizes, of_list=True) if per_call else Slot([f"({low}, {high})", f"(0, {high + 2})"])
        index: Form = []
        if labelled := [value.index for value in values if value.index is not None]:
            index = [", index=", *self._column(labelled)]
        if first.is_series:
            return ["series(", *columns[0], ", ", size, *index, ")"]
        named = [[f"{code(label)}: ", *form] for label, form in zip(first.columns, columns, strict=True)]
        return ["frames({", *_joined(named), "}, ", size, *index, ")"]

    def _column(self, columns: Sequence[Any]) -> Form:
        items = [plain_or_none(item) for column in columns for item in cast("list[object]", plain(column))]
        if not items:
            raise Undrawable(f"`{self._name}` (an empty data frame)")
        texts = [item for item in items if isinstance(item, str)]
        different = sorted(set(texts))
        if len(different) < len(texts) and len(different) <= _MOST_GROUPS and {*map(type, items)} <= {str, type(None)}:
            return ["none() | " if len(texts) < len(items) else "", f"sampled_from({code(different)})"]
        return self.form(items, per_call=False)

    def _days(self, values: Sequence[datetime.datetime]) -> Form:
        if any(f"{value:%H:%M:%S.%f}" != "00:00:00.000000" or value.tzinfo is not None for value in values):
            raise Undrawable(f"`{self._name}` (times of the day)")
        return [form_of_days(min(values), max(values))]


def _order_of(values: Sequence[list[Any]]) -> str:
    """Return the options for arrays that ascend, as points on an axis do, and not by chance."""
    long = [value for value in values if len(value) >= _LONG and 2 * len(set(value)) > len(value)]
    if (len(long) < 2 and max(map(len, long), default=0) < _SURE) or any(value != sorted(value) for value in values):
        return ""
    return ", ordered=True" + (", distinct=True" if all(len(set(v)) == len(v) for v in values) else "")


def _is_regular(values: Iterable[list[Any]]) -> bool:
    """Return whether each value is a list of rows of one length."""
    return all(len({len(row) for row in value}) <= 1 for value in values)


def _most(values: Sequence[Any]) -> int:
    return max(len(value) for value in values)


def _joined(forms: Sequence[Form], separator: str = ", ") -> Form:
    return [part for place, form in enumerate(forms) for part in ([separator, *form] if place else form)]


def _either(forms: Sequence[Form]) -> Form:
    return _joined(forms, " | ")
