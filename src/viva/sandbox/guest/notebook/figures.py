"""Figures of notebooks, added as images to the outputs of the cell that drew them; nothing here imports matplotlib."""

from __future__ import annotations

import base64
import io
import os
import sys
from typing import Any, Optional

from .cell_outputs import Outputs

BACKEND = f"module://{__package__}.figure_backend"


class _Target:
    outputs: Optional[Outputs] = None


def use_for_notebooks(outputs: Outputs) -> None:
    """Send figures to `outputs` from now on, even if matplotlib is loaded later."""
    _Target.outputs = outputs
    os.environ["MPLBACKEND"] = BACKEND
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.use(BACKEND)


def show() -> None:
    """Add all open figures to the outputs and close them, at `pyplot.show()` and at the end of a cell."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or _Target.outputs is None:
        return
    try:
        for number in pyplot.get_fignums():
            _display(pyplot.figure(number), _Target.outputs)
    finally:
        pyplot.close("all")


def _display(figure: Any, outputs: Outputs) -> None:
    if not figure.axes and not figure.lines:
        outputs.display({"text/plain": repr(figure)}, {})  # a notebook shows no more of an empty figure
        return
    image = io.BytesIO()
    figure.savefig(image, format="png", bbox_inches="tight", facecolor=figure.get_facecolor())
    outputs.display({"image/png": base64.b64encode(image.getvalue()).decode() + "\n", "text/plain": repr(figure)}, {})
