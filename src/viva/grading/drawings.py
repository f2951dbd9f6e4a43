"""Compare what students draw with matplotlib by its data: they must show those of the solution, in any form."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.sandbox.guest.transport.library_types import library_type

Part = tuple[str, object]
"""The kind, and the data: points (n, 2) sorted by x, bars (n, 3) as position, begin and end, an image, or a text."""
_POINTS: Final = "points"
_BARS: Final = "bars"
_IMAGE: Final = "image"
_TEXT: Final = "text"
_LOOSELY: Final = Context.of(1e-3, None, ())


def drawn(function: Any, like: Any = None) -> Callable[..., list[Part]]:
    """Return a function that calls `student.f` or `key.f`, and returns the data in the figure or axes that it returns.

    Lines and points are the same, and colours and the width of bars do not count. Of titles and labels, only those
    count that the function gets as an argument.

    Args:
        function: `student.f` or `key.f`.
        like: `key.f`. Of what the other one draws, only that counts which this one draws as well; a grid line or a
            second curve that it does not have is not returned.
    """

    def call(*arguments: object) -> list[Part]:
        found = _counting(function(*arguments), arguments)
        if like is None:
            return found
        return [_closest(part, found) for part in _counting(like(*arguments), arguments)]

    call.__name__ = function.__name__
    return call


def parts_of(value: Any) -> Iterator[Part]:
    """Yield the data of a figure or of axes, also of the first of several values; nothing for any other value."""
    if isinstance(value, list | tuple):
        yield from next((found for each in value if (found := list(parts_of(each)))), [])
        return
    if is_drawing(value):
        shown, value = value, library_type(type(value)).plain(value)  # type: ignore[union-attr]  # it has a row
        _close(shown)
    if not isinstance(value, dict):
        return
    for axes in value.get("axes", []):
        yield from parts_of(axes)
    legend = value.get("legend", [])
    yield from ((_TEXT, text) for text in (*map(value.get, ("title", "xlabel", "ylabel")), *legend) if text)
    for line in value.get("lines", []):
        yield _POINTS, _sorted(line["x"], line["y"])
    for points in value.get("points", []):
        yield _POINTS, _sorted(*np.asarray(points["xy"]).T)
    for bars in value.get("bars", []):
        yield _BARS, _ends(np.asarray(bars["boxes"], dtype=float).reshape(-1, 4))
    for image in value.get("images", []):
        yield _IMAGE, image


def draws_data(value: Any) -> bool:
    """Return whether a value is a drawing that shows more than texts."""
    return any(kind != _TEXT for kind, _ in parts_of(value))


def _counting(value: Any, arguments: Sequence[object]) -> list[Part]:
    """Return the data of a drawing, and the texts that were passed."""
    texts = [argument for argument in arguments if isinstance(argument, str)]
    return [(kind, data) for kind, data in parts_of(value) if (data in texts if kind == _TEXT else _is_seen(data))]


def _is_seen(data: Any) -> bool:
    return len(data) > 0


def is_drawing(value: object) -> bool:
    """Return whether it is a figure or axes of matplotlib."""
    row = library_type(type(value))
    return row is not None and row.module.startswith("matplotlib")


def _sorted(x: Any, y: Any) -> object:
    """Return points in the order of x: that in which they were drawn makes no difference."""
    one, other = np.asarray(x).ravel(), np.asarray(y).ravel()
    if len(one) != len(other) or {one.dtype.kind, other.dtype.kind} - set("biuf"):
        return [list(one), list(other)]
    return np.array(sorted(zip(one.astype(float), other.astype(float), strict=True))).reshape(-1, 2)


def _ends(boxes: Any) -> object:
    """Return position, begin and end of bars: their width is a matter of taste."""
    x, y, width, height = boxes.T
    if len(boxes) and (x == x[0]).all() and not (y == y[0]).all():  # they lie
        x, y, width, height = y, x, height, width
    return np.array(sorted(zip(x + width / 2, y, y + height, strict=True))).reshape(-1, 3)


def _closest(wanted: Part, found: list[Part]) -> Part:
    """Return the part that is like another one; else the next best of its kind, and nothing if there is none."""
    same = [part for part in found if part[0] == wanted[0]]
    agreeing = (part for part in same if difference(part[1], wanted[1], _LOOSELY) is None)
    return next(agreeing, None) or next(iter(same), (f"no {wanted[0]}", None))


def _close(drawing: Any) -> None:
    """Let pyplot forget a figure: it keeps all that it has made."""
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close(getattr(drawing, "figure", drawing))
