"""Short, honest texts for values in messages: at most a line, not wrong by rounding, safe for every value."""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from viva.compare.normalize import Opaque

CAP: Final = 70
_DIGITS: Final = 6
_WHOLE: Final = 1e12
_NEAR: Final = 1e4
_LONG_BITS: Final = 200


def show(value: Any, cap: int = CAP) -> str:
    """Return the value as a student would write it, shortened with an ellipsis to about `cap` characters."""
    return _clip(_text(value, cap, depth=0), cap)


def show_two(actual: Any, expected: Any) -> tuple[str, str]:
    """Return both values, with as many digits as it takes to see that they differ."""
    one, other = show(actual), show(expected)
    if one == other and _is_real(actual) and _is_real(expected):
        return _clip(_exact(actual), CAP), _clip(_exact(expected), CAP)
    return one, other


def as_written(value: Any, cap: int = CAP) -> str:
    """Return an answer as the student wrote it, without quotes; what cannot be printed becomes a question mark."""
    if not isinstance(value, str):
        return show(value, cap)
    text = "".join(c if c.isprintable() else "?" for c in " ".join(value[: 4 * cap].split()))
    return _clip(text, cap)


def describe(value: Any) -> str:
    """Return the kind of the value in words: "a list of 3 items", "an array of shape (9, 9)"."""
    if value is None:
        return "None"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, str):
        return f"the text {show(value)}"
    if isinstance(value, bytes):
        return f"{count(len(value), 'byte')}"
    if isinstance(value, int | float | complex | Fraction | np.number):
        return f"the number {show(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple | set | frozenset | dict):
        kind = {list: "a list", tuple: "a tuple", dict: "a dict"}.get(type(value), "a set")
        return f"{kind} of {count(len(value), 'item')}" if len(value) else f"an empty {kind[2:]}"
    if isinstance(value, Opaque):
        return f"an object of class `{value.type_name}`"
    return f"an object of class `{type(value).__name__}`"


def number(value: float) -> str:
    """Return a number for a message: six significant digits, whole numbers in full, no trailing zeros."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < _WHOLE else f"{value:.{_DIGITS}g}"


def tolerance_note(distance: float, allowed: float) -> str:
    """Return the tolerance, for errors so small that it matters; else an empty text."""
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


def _text(value: Any, cap: int, depth: int) -> str:
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return _whole(int(value))
    if isinstance(value, float | np.floating):
        return number(float(value))
    if isinstance(value, Fraction):
        below = f"/{_whole(value.denominator)}" if value.denominator != 1 else ""
        return _whole(value.numerator) + below
    if isinstance(value, complex | np.complexfloating):
        return f"{number(float(value.real))}{'-' if value.imag < 0 else '+'}{number(abs(float(value.imag)))}j"
    if isinstance(value, str | bytes):
        return repr(value[:cap]) + ("…" if len(value) > cap else "")
    if isinstance(value, np.ndarray):
        return _array(value, cap, depth)
    if isinstance(value, list | tuple | set | frozenset | dict):
        return _container(value, cap, depth)
    return "None" if value is None else f"<{type(value).__name__}>"


def _array(value: np.ndarray[Any, Any], cap: int, depth: int) -> str:
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


def _whole(value: int) -> str:
    # str() of a huge int is slow, and refused beyond 4,300 digits.
    if value.bit_length() > _LONG_BITS:
        sign = "a negative" if value < 0 else "a"
        return f"{sign} whole number of about {int(value.bit_length() * math.log10(2)) + 1:,} digits"
    return str(value)


def _exact(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value))
    return _text(value, CAP, 0)


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | np.integer | np.floating)


def count(quantity: int, noun: str) -> str:
    """Return a quantity with its noun: `1 item`, `2 items`."""
    return f"{quantity} {noun}" if quantity == 1 else f"{quantity} {noun}s"


def _clip(text: str, cap: int) -> str:
    return text if len(text) <= cap + 20 else text[:cap] + "…"
