"""Settings for what `datasets` and `evaluate` print: the stand-ins print nothing, and accept every setting."""

from __future__ import annotations

import importlib.machinery
import logging
import sys
import types
from typing import Any

_LEVELS = ("debug", "info", "warning", "error")
_BARS = ("disable_progress_bar", "enable_progress_bar", "disable_progress_bars", "enable_progress_bars")
_CACHES = ("disable_caching", "enable_caching")


def put_module(name: str, **names: Any) -> types.ModuleType:
    """Put a stand-in where `import` looks first."""
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__path__ = []  # so that modules below it can be imported
    vars(made).update(names)
    sys.modules[name] = made
    return made


def put_settings(name: str) -> None:
    """Give a stand-in the functions with which programs ask a library to be quiet."""
    quiet = dict.fromkeys((*_BARS, *(f"set_verbosity_{level}" for level in _LEVELS), "set_verbosity"), _nothing)
    names: dict[str, Any] = {
        **quiet,
        **{level.upper(): getattr(logging, level.upper()) for level in _LEVELS},
        "get_logger": logging.getLogger,
        "get_verbosity": lambda: logging.WARNING,
        "disable_propagation": _nothing,
        "enable_propagation": _nothing,
    }
    logs = put_module(f"{name}.utils.logging", **names)
    below = dict.fromkeys(_BARS, _nothing)
    utils = put_module(f"{name}.utils", logging=logs, **below)
    vars(sys.modules[name]).update(logging=logs, utils=utils, **below, **dict.fromkeys(_CACHES, _nothing))
    sys.modules[f"{name}.logging"] = logs


def _nothing(*_: Any, **__: Any) -> None:
    """Take a setting."""
