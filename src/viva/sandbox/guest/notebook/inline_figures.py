"""Figures of notebooks that have a shell: matplotlib's own backend for notebooks, as a stock kernel uses it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

_MODULE = "matplotlib_inline.backend_inline"
BACKEND = f"module://{_MODULE}"


def warm_up() -> None:
    """Once in a fork server that has loaded matplotlib; changes no state of it."""
    if "matplotlib.pyplot" in sys.modules and importlib.util.find_spec("matplotlib_inline") is not None:
        importlib.import_module(_MODULE)
        registry = sys.modules.get("matplotlib.backends.registry")
        if registry is not None:
            registry.backend_registry.list_all()  # looks for backends in every package that is installed


def use(shell: Any) -> bool:
    """From now on figures are displayed by `shell`, whether matplotlib is loaded already or will be.

    Returns:
        Whether the backend is installed; otherwise figures.py has one of our own.
    """
    if importlib.util.find_spec("matplotlib_inline") is None:
        return False
    os.environ["MPLBACKEND"] = BACKEND
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.use(BACKEND)
        backend = importlib.import_module(_MODULE)
        matplotlib.interactive(True)
        backend.configure_inline_support(shell, BACKEND)
    return True
