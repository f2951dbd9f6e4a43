"""Figures of notebooks with a shell: matplotlib's own inline backend, which a stock kernel uses too."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

_MODULE = "matplotlib_inline.backend_inline"
BACKEND = f"module://{_MODULE}"


def warm_up() -> None:
    """Import the backend once, in a fork server that has loaded matplotlib; this changes no state of matplotlib."""
    if "matplotlib.pyplot" in sys.modules and importlib.util.find_spec("matplotlib_inline") is not None:
        importlib.import_module(_MODULE)
        registry = sys.modules.get("matplotlib.backends.registry")
        if registry is not None:
            registry.backend_registry.list_all()  # searches every installed package for backends


def use(shell: object) -> bool:
    """Let `shell` display figures from now on, even if matplotlib is loaded later.

    Returns:
        Whether the backend is installed; if not, figures.py has a replacement.
    """
    if importlib.util.find_spec("matplotlib_inline") is None:
        return False
    os.environ["MPLBACKEND"] = BACKEND
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.use(BACKEND)
        backend = importlib.import_module(_MODULE)
        matplotlib.interactive(True)  # noqa: FBT003  # matplotlib's own signature
        backend.configure_inline_support(shell, BACKEND)
    return True
