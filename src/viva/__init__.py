"""viva: an autograder for NLP and deep-learning coursework.

`viva.check()` in a notebook asks it the public tests of its assignment.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_LIVE_CHECK = "viva.plugins.selfcheck.live_check"


def __getattr__(name: str) -> Any:
    """`viva.check` is imported when it is asked for: every process of the engine imports this file."""
    if name == "check":
        return importlib.import_module(_LIVE_CHECK).check
    raise AttributeError(f"module 'viva' has no attribute {name!r}")
