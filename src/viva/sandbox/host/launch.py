"""How a program of the box's inside is started: which file, and with next to no environment."""

import os
from pathlib import Path
from typing import Final

import viva.sandbox.guest.transport.control as control
from viva.model import system

START: Final = Path(control.__file__).parents[1] / "start.py"
_KEPT: Final = ("LD_LIBRARY_PATH",) if system.INHERITS_DESCRIPTORS else ("PATH", "SYSTEMROOT", "TEMP", "TMP")
"""Some interpreters do not start without it; it is the operator's, not the student's; Windows needs PATH."""


def environment() -> dict[str, str]:
    """All variables that the fork server, or a fresh interpreter, begins with."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
    }
