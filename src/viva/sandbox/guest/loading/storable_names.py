"""Check whether a file of a submission can be stored under its name here: Windows allows fewer names than others.

Names that Windows interprets differently (a drive, a stream, a device, another folder) would lead out of the work
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


def refusal_reason(path: str, *, windows: bool = _WINDOWS) -> str:
    """Return why a path, with `/` between its parts, cannot be stored in the work directory; "" if it can.

    Args:
        path: as the submission names it.
        windows: apply the rules of Windows; the default is the rules of this system.
    """
    if os.path.isabs(path) or ".." in path.split("/"):
        return "it leads out of the work directory"
    if not windows:
        return ""
    if "\\" in path or PureWindowsPath(path).anchor:
        return "it leads out of the work directory"
    return next(filter(None, map(_part_refusal_reason, path.split("/"))), "")


def _part_refusal_reason(part: str) -> str:
    if not part:
        return "a part of its name is empty"
    if any(character in _FORBIDDEN or ord(character) < 32 for character in part):
        return f"Windows has no names with any of {' '.join(_FORBIDDEN)} or control characters"
    if part != "." and part[-1] in " .":
        return "Windows has no names that end with a dot or a space"
    if part.split(".")[0].rstrip(" ").lower() in _DEVICES:
        return f"{part.split('.')[0].rstrip(' ')} is the name of a device on Windows"
    return ""
