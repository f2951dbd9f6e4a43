"""Short, honest texts for values in messages: at most a line, not wrong by rounding, safe for every value."""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from viva.compare.normalize import Array, Opaque, is_tensor, plain
from viva.compare.value_kinds import kind_of
from viva.compare.value_kinds import number as number  # the examiner's other modules find it here
from viva.model.counting import counted
from viva.sandbox.guest.transport.library_types import library_type
from viva.sandbox.guest.transport.wire import Code, Frame

CAP: Final = 70
MAX_CHARACTERS: Final = 600
"""A call with longer arguments is named by their shapes."""
_NEAR: Final = 1e4
_NUMPY_NUMBERS: Final = ((np.bool_, bool), (np.integer, int), (np.floating, float), (np.complexfloating, complex))


def show(value: object, cap: int = CAP) -> str:
    """Return the value as a student would write it, shortened with an ellipsis to about `cap` characters."""
    return _clip(_text(value, cap, depth=0), cap)


def show_two(actual: object, expected: object) -> tuple[str, str]:
    """Return both values, with as many digits as it takes to see that they differ."""
    one, other = show(actual), show(expected)
    if one == other and _is_real(actual) and _is_real(expected):
        return _clip(_exact(actual), CAP), _clip(_exact(expected), CAP)
    return one, other


def as_written(value: object, cap: int = CAP) -> str:
    """Return an answer as the student wrote it, without quotes; what cannot be printed becomes a question mark."""
    if not isinstance(value, str):
        return show(value, cap)
    text = "".join(c if c.isprintable() else "?" for c in " ".join(value[: 4 * cap].split()))
    return _clip(text, cap)


def describe(value: object) -> str:
    """Return what kind of thing the value is, in words: "a list of 3 items", "an array of shape (9, 9)"."""
    value = _as_python(value)
    if (row := kind_of(value)) is not None and row.show is not None:
        return row.describe(value, show(value))
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple | set | frozenset | dict):
        kind = {list: "a list", tuple: "a tuple", dict: "a dict"}.get(type(value), "a set")
        return f"{kind} of {counted(len(value), 'item')}" if len(value) else f"an empty {kind[2:]}"
    if isinstance(value, Opaque):
        return f"an object of class `{value.type_name}`"
    if isinstance(value, Frame):
        return _frame_described(value)
    return f"an object of class `{type(value).__name__}`"


def tolerance_note(distance: float, allowed: float) -> str:
    """Return a note on the tolerance if the error is so small that it matters; else an empty text."""
    return f"tolerance {allowed:.2g}" if 0 < allowed < math.inf and distance < _NEAR * allowed else ""


def percent(part: int, whole: int) -> str:
    """Return `part` of `whole` as a percentage that is never rounded to 0 or to 100 unless it is."""
    share = 100 * part / whole
    if 0 < share < 1:
        return "under 1 %"
    if 99 < share < 100:
        return "over 99 %"
    return f"{share:.0f} %"


def index(position: tuple[int, ...]) -> str:
    """Return a position in an array: "[0, 5]"."""
    return "[" + ", ".join(str(int(i)) for i in position) + "]"


def show_call(function: str, **arguments: object) -> str:
    """Return a call in words, for the name of a comparison.

        agree(student.f(X, W), key.f(X, W), name=show_call("f", X=X, W=W))

    names it "f with X = [[1, 0.5]], W = np.eye(2)". Arguments are numbers and arrays, by the handout's names.
    """
    values = {name: np.asarray(argument) for name, argument in arguments.items()}
    shown = {name: _show_whole(value) for name, value in values.items()}
    if sum(map(len, shown.values())) > MAX_CHARACTERS:
        shown |= {name: f"of shape {value.shape}" for name, value in values.items() if value.ndim}
    return f"{function} with {', '.join(f'{name} {text}' for name, text in shown.items())}"


def _show_whole(value: Array) -> str:
    if value.ndim == 2 and value.size > 1 and np.array_equal(value, np.eye(len(value))):
        return f"= np.eye({len(value)})"
    return f"= {show(value, MAX_CHARACTERS)}"


def _text(value: object, cap: int, depth: int) -> str:
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    value = _as_python(value)
    if (row := kind_of(value)) is not None and row.show is not None:
        return row.show(value, cap)
    if isinstance(value, Frame):
        return _frame(value, cap, depth)
    if isinstance(value, Code):
        return value.shown
    if isinstance(value, np.ndarray):
        return _array(value, cap, depth)
    if isinstance(value, list | tuple | set | frozenset | dict):
        return _container(value, cap, depth)
    return f"<{type(value).__name__}>"


def _as_python(value: object) -> object:
    """Return a numpy scalar, a tensor or an object of pandas as what has a text; any other value as it is."""
    for kind, python in _NUMPY_NUMBERS:
        if isinstance(value, kind):
            return python(value)
    if is_tensor(value):
        return plain(value)
    row = library_type(type(value))
    return value if row is None or row.module != "pandas" else row.plain(value)


def _frame(value: Frame, cap: int, depth: int) -> str:
    """Return a data frame as the dict of its columns, and a series as a list, or as a dict of its items by label."""
    if value.is_series:
        items = value.values()
        return _text(items if value.index is None else dict(zip(value.row_labels, items, strict=True)), cap, depth)
    return _text({label: list(column) for label, column in zip(value.columns, value.data, strict=True)}, cap, depth)


def _frame_described(value: Frame) -> str:
    if value.is_series:
        return f"a series of {counted(len(value), 'item')}"
    labels = [show(label, 30) for label in value.columns[:4]] + ["…"] * (len(value.columns) > 4)
    columns = f" with the columns {', '.join(labels)}" if labels else ""
    return f"a data frame of {counted(len(value), 'row')}{columns}"


def _array(value: Array, cap: int, depth: int) -> str:
    if value.size > cap or depth > 4:
        return f"an array of shape {value.shape}" if depth == 0 else "…"
    return _text(value.tolist(), cap, depth)


def _container(value: Any, cap: int, depth: int) -> str:
    left, right = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
    if not value:
        return "set()" if isinstance(value, set | frozenset) else left + right
    if depth > 4:
        return f"{left}…{right}"
    parts: list[str] = []
    length = 0
    for item in value.items() if isinstance(value, dict) else value:
        if length > cap:
            parts.append("…")
            break
        if isinstance(value, dict):
            parts.append(f"{_text(item[0], cap, depth + 1)}: {_text(item[1], cap, depth + 1)}")
        else:
            parts.append(_text(item, cap, depth + 1))
        length += len(parts[-1]) + 2
    body = ", ".join(parts)
    return f"({body},)" if left == "(" and len(value) == 1 else f"{left}{body}{right}"


def _exact(value: object) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value))
    return _text(value, CAP, 0)


def _is_real(value: object) -> bool:
    return isinstance(value, int | float | Fraction | np.integer | np.floating)


def _clip(text: str, cap: int) -> str:
    return text if len(text) <= cap + 20 else text[:cap] + "…"
