"""The matplotlib backend of notebooks without a kernel: Agg draws, figures.py shows. matplotlib loads it by name."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

from . import figures

__all__ = ["FigureCanvas", "show"]


def show(*_args: object, **_kwargs: object) -> None:
    """Show all figures; this is `pyplot.show()`."""
    figures.show()
