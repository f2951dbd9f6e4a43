"""Whether a file of a submission can be stored under its name here: Windows knows fewer names than others do.

Names that Windows takes for something else (a drive, a stream, a device, another folder) would lead out of the work
directory or lose the bytes; they are refused before anything is opened.
"""

from __future__ import annotations

import os
from pathlib import PureWindowsPath

_FORBIDDEN = '<>:"|?*'
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{name}{number}" for name in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"]
)
_WINDOWS = not hasattr(os, "fork")


def why_not(path: str, *, windows: bool = _WINDOWS) -> str:
    """Why a path, with `/` between its parts, cannot be stored in the work directory; "" where it can.

    Args:
        path: as the submission names it.
        windows: by the rules of Windows; those of this system if not given.
    """
    if os.path.isabs(path) or ".." in path.split("/"):
        return "it leads out of the work directory"
    if not windows:
        return ""
    if "\\" in path or PureWindowsPath(path).anchor:
        return "it leads out of the work directory"
    return next(filter(None, map(_why_not_part, path.split("/"))), "")


def _why_not_part(part: str) -> str:
    if not part:
        return "a part of its name is empty"
    if any(character in _FORBIDDEN or ord(character) < 32 for character in part):
        return f"Windows has no names with any of {' '.join(_FORBIDDEN)} or control characters"
    if part != "." and part[-1] in " .":
        return "Windows has no names that end with a dot or a space"
    if part.split(".")[0].rstrip(" ").lower() in _DEVICES:
        return f"{part.split('.')[0].rstrip(' ')} is the name of a device on Windows"
    return ""
