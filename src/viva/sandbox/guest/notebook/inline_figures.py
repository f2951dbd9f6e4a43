"""Figures of notebooks with a shell: matplotlib's own inline backend, which IPython brings with it."""

from __future__ import annotations

import importlib
import os
import sys

_MODULE = "matplotlib_inline.backend_inline"
BACKEND = f"module://{_MODULE}"


def warm_up() -> None:
    """Import the backend once, in a fork server that has loaded matplotlib; this changes no state of matplotlib."""
    if "matplotlib.pyplot" in sys.modules:
        importlib.import_module(_MODULE)
        registry = sys.modules.get("matplotlib.backends.registry")
        if registry is not None:
            registry.backend_registry.list_all()  # searches every installed package for backends


def use(shell: object) -> None:
    """Let `shell` display figures from now on, even if matplotlib is loaded later."""
    os.environ["MPLBACKEND"] = BACKEND
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.use(BACKEND)
        backend = importlib.import_module(_MODULE)
        matplotlib.interactive(True)  # noqa: FBT003  # matplotlib's own signature
        backend.configure_inline_support(shell, BACKEND)
