"""How a program of the guest is started: its file, and an almost empty environment."""

import os
from pathlib import Path
from typing import Final

import viva.sandbox.guest.transport.control as control
from viva.sandbox import system

START: Final = Path(control.__file__).parents[1] / "start.py"
_KEPT: Final = ("LD_LIBRARY_PATH",) if system.INHERITS_DESCRIPTORS else ("PATH", "SYSTEMROOT", "TEMP", "TMP")
"""Some interpreters need LD_LIBRARY_PATH to start, and Windows needs PATH; the operator sets them, not the student."""


def environment() -> dict[str, str]:
    """Return all variables with which the fork server, or a fresh interpreter, starts."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
    }
