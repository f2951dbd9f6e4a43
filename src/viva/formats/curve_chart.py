"""Training curves as a picture (SVG) and as a table (CSV): of one submission, and the spread over a class.

matplotlib is imported when there is something to draw. The same curves give the same bytes. Every name is escaped, is
text in the SVG, and is never read as markup or as a formula.
"""

import csv
import io
import statistics
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from viva.formats import escaping
from viva.model import Score
from viva.model.score import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = TypeVar("Panel")


MOST_PANELS: Final = 12
"""Panels of one picture; the table holds all of them."""
_WIDTH, _HEIGHT = 6.4, 3.2
"""The size of a panel, in inches."""
_LINES: Final = ("-", "--", "-.", ":")
_MARKERS: Final = "os^Dv*"


def table_of(score: Score) -> bytes:
    """Write a row for each epoch of each curve: test, curve, epoch, value, threshold."""
    rows = [
        [escaping.csv_cell(_test(c)), escaping.csv_cell(_name(c)), *cells] for c in score.curves for cells in _cells(c)
    ]
    return _csv(["test", "curve", "epoch", "value", "threshold"], rows)


def class_table(scores: Sequence[Score]) -> bytes:
    """Write a row for each epoch of each curve of each submission: submission, test, curve, epoch, value, threshold."""
    rows = [
        [
            escaping.csv_cell(escaping.line(score.submission)),
            escaping.csv_cell(_test(c)),
            escaping.csv_cell(_name(c)),
            *cells,
        ]
        for score in scores
        for c in score.curves
        for cells in _cells(c)
    ]
    return _csv(["submission", "test", "curve", "epoch", "value", "threshold"], rows)


def picture_of(score: Score) -> bytes:
    """Draw an SVG with a panel for each test: its curves, and a dash at every threshold.

    Raises:
        ImportError: matplotlib is not installed.
    """
    tests = list(dict.fromkeys(curve.test_id for curve in score.curves))[:MOST_PANELS]

    def draw(axes: "Axes", test: str) -> None:
        curves = [curve for curve in score.curves if curve.test_id == test]
        for index, curve in enumerate(curves):
            style: dict[str, Any] = {
                "linestyle": _LINES[index % len(_LINES)],
                "marker": _MARKERS[index % len(_MARKERS)],
            }
            axes.plot(_epochs(curve), curve.values, color=f"C{index % 10}", label=_name(curve), **style)
            _draw_thresholds(axes, curve.thresholds, f"C{index % 10}")
        axes.set_title(_test(curves[0]), loc="left", fontsize="medium")
        axes.legend(frameon=False, fontsize="small")

    return _svg(escaping.line(score.submission), tests, draw)


def class_picture(scores: Sequence[Score]) -> bytes:
    """Draw an SVG with a panel for each curve of a test: submissions thin, the median thick, thresholds as dashes.

    Raises:
        ImportError: matplotlib is not installed.
    """
    of: dict[tuple[str, str], list[Curve]] = {}
    for score in scores:
        for curve in score.curves:
            of.setdefault((curve.test_id, curve.name), []).append(curve)

    def draw(axes: "Axes", place: tuple[str, str]) -> None:
        curves = of[place]
        for curve in curves:
            axes.plot(_epochs(curve), curve.values, color="0.6", linewidth=0.7, marker=".", markersize=3)
        medians = _medians(curves)
        axes.plot(range(1, len(medians) + 1), medians, color="C0", linewidth=2.2, marker="o", label="median")
        _draw_thresholds(axes, sorted({mark for curve in curves for mark in curve.thresholds}), "C3")
        count = f"{len(curves)} submission{'s' * (len(curves) != 1)}"
        axes.set_title(f"{_test(curves[0])}: {_name(curves[0])} ({count})", loc="left", fontsize="medium")
        axes.legend(frameon=False, fontsize="small")

    return _svg("Training curves of the class", list(of)[:MOST_PANELS], draw)


def _draw_thresholds(axes: "Axes", marks: Iterable[tuple[int, float]], color: str) -> None:
    middle = sum(axes.get_xlim()) / 2
    for epoch, value in marks:
        axes.plot([epoch - 0.3, epoch + 0.3], [value, value], color=color, linewidth=2, solid_capstyle="butt")
        side, x = ("left", epoch - 0.3) if epoch < middle else ("right", epoch + 0.3)  # towards the inside
        place: dict[str, Any] = {"textcoords": "offset points", "xytext": (0, 2), "ha": side, "va": "bottom"}
        axes.annotate(f"threshold {value:g}", (x, value), fontsize="x-small", color=color, **place)


def _medians(curves: Sequence[Curve]) -> list[float]:
    """Return the median at each epoch of the curves that reach it."""
    longest = max(len(curve.values) for curve in curves)
    return [statistics.median(c.values[i] for c in curves if len(c.values) > i) for i in range(longest)]


def _svg(title: str, panels: Sequence[Panel], draw: "Callable[[Axes, Panel], None]") -> bytes:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that a font lacks: the reader's program chooses the font
        matplotlib.rcdefaults()  # ignore this user's matplotlibrc
        matplotlib.rcParams |= {"svg.hashsalt": "viva", "svg.fonttype": "none", "text.parse_math": False}
        figure = Figure(figsize=(_WIDTH, _HEIGHT * max(1, len(panels))), layout="tight")
        FigureCanvasSVG(figure)
        for index, panel in enumerate(panels, 1):
            axes = figure.add_subplot(len(panels), 1, index)
            draw(axes, panel)
            axes.set_xlabel("epoch")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_ylim(*_limits(*axes.get_ylim()))
            axes.grid(visible=True, color="0.9")
            axes.set_axisbelow(True)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    return file.getvalue()


def _limits(low: float, high: float) -> tuple[float, float]:
    """Return the limits of the axis: from 0 to 1 for shares, because a zoomed axis exaggerates small changes."""
    share = low > -0.1 and high < 1.1
    return (min(low, -0.02), max(high, 1.02)) if share else (low, high)


def _epochs(curve: Curve) -> range:
    return range(1, len(curve.values) + 1)


def _name(curve: Curve) -> str:
    return escaping.line(curve.name, characters=100)


def _test(curve: Curve) -> str:
    """Return the test function's name in words."""
    return escaping.line(curve.test_id.rpartition("::")[2].removeprefix("test_").replace("_", " "), characters=100)


def _cells(curve: Curve) -> list[list[str]]:
    asked = dict(curve.thresholds)
    last = max([len(curve.values), *asked])
    shown = [f"{value:.6g}" for value in curve.values] + [""] * (last - len(curve.values))
    return [
        [str(epoch), value, f"{asked[epoch]:.6g}" if epoch in asked else ""] for epoch, value in enumerate(shown, 1)
    ]


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue().encode()
