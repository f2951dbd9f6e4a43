"""Types of other libraries whose values arrive as plain ones; no library is imported for it.

A row names the class by its module, and how a value becomes one step plainer. To add a type, add its row here and a
value to `SAMPLES` in `tests/sandbox/guest/test_library_types.py`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

from .frames import labels_of, of_data_frame, of_series
from .value_types import KEEP

if TYPE_CHECKING:
    from .wire_values import Array

_MOST_ELEMENTS = 1 << 22
"""A larger sparse matrix stays in the box: it may have far more elements than numbers are stored."""


class LibraryType(NamedTuple):
    """One class of a library."""

    module: str
    name: str
    plain: Callable[[Any], Any]
    """Makes a plainer value; returns KEEP if there is none."""


def library_type(kind: type) -> Optional[LibraryType]:
    """Return the row of a class, or of the class that it is derived from."""
    for row in LIBRARY_TYPES:
        module = sys.modules.get(row.module)
        found = None if module is None else getattr(module, row.name, None)
        if isinstance(found, type) and issubclass(kind, found):
            return row
    return None


def _dense(value: Any) -> object:
    rows, *columns = value.shape
    return value.toarray() if rows * (columns[0] if columns else 1) <= _MOST_ELEMENTS else KEEP


def _pixels(image: Any) -> Array:
    """Return the colours of an image; the numbers of a palette say nothing without it."""
    return np.asarray(image.convert("RGBA" if "transparency" in image.info else "RGB") if image.mode == "P" else image)


def _figure(figure: Any) -> Dict[str, object]:
    """Return what a figure shows."""
    return {"title": figure.get_suptitle(), "axes": [_axes(axes) for axes in figure.axes]}


def _axes(axes: Any) -> Dict[str, object]:
    """Return what axes show: their texts, and the data of lines, bars, points and images."""
    from matplotlib.container import BarContainer

    bars = [container for container in axes.containers if isinstance(container, BarContainer)]
    shown: Dict[str, object] = {
        "title": axes.get_title(),
        "xlabel": axes.get_xlabel(),
        "ylabel": axes.get_ylabel(),
        "xscale": axes.get_xscale(),
        "yscale": axes.get_yscale(),
        "legend": [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else [],
        "lines": [{"label": _said(line), "x": _data(line.get_xdata()), "y": _data(line.get_ydata())}
                  for line in axes.get_lines()],
        "bars": [{"label": _said(container), "boxes": [_box(bar) for bar in container.patches]} for container in bars],
        "points": [{"label": _said(points), "xy": np.asarray(points.get_offsets(), dtype=float)}
                   for points in axes.collections if len(points.get_offsets())],
        "images": [np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan) for image in axes.get_images()],
    }  # fmt: skip
    return shown


def _box(bar: Any) -> List[float]:
    return [float(number) for number in (bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height())]


def _data(values: Any) -> Array:
    return np.array(values)


def _said(artist: Any) -> str:
    """Return the label of something drawn; matplotlib itself gives it one that begins with a low line."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else label


LIBRARY_TYPES = (
    LibraryType("pandas", "DataFrame", of_data_frame),
    LibraryType("pandas", "Series", of_series),
    LibraryType("pandas", "Index", labels_of),
    LibraryType("pandas._libs.missing", "NAType", lambda value: None),
    LibraryType("scipy.sparse", "spmatrix", _dense),
    LibraryType("scipy.sparse", "sparray", _dense),
    LibraryType("PIL.Image", "Image", _pixels),
    LibraryType("matplotlib.figure", "Figure", _figure),
    LibraryType("matplotlib.axes", "Axes", _axes),
)
