"""Find and remove what a process that was killed had not finished: copies of a class, and files half written."""

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viva.sandbox.host.folder_locks import is_abandoned

_FILE: Final = re.compile(r"\..+\.[0-9a-f]{12}\.part", re.DOTALL)
"""As `write_atomically` names it."""
_FOLDER: Final = re.compile(r"\..+\.part", re.DOTALL)
"""As `read_into_stable_folder` names it."""
_WRITTEN_S: Final = 3600.0
"""No file takes this long to write."""


def leftover_parts(folder: Path) -> Iterator[Path]:
    """Yield the files and folders below a folder that a process which has ended had not finished."""
    for path in sorted(folder.rglob(".*.part")) if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            if path.is_symlink():
                continue
            if path.is_dir():
                found = _FOLDER.fullmatch(path.name) is not None and is_abandoned(path)
            else:
                found = _FILE.fullmatch(path.name) is not None and time.time() - path.lstat().st_mtime > _WRITTEN_S
            if found:
                yield path


def sweep_parts(folder: Path) -> None:
    """Remove them; what cannot be removed stays."""
    for path in leftover_parts(folder):
        with contextlib.suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
