"""Keeps a copy of a damaged file of records before anyone tries to fix it."""

import contextlib
import shutil
from pathlib import Path
from typing import Final

FILES: Final = ("", "-wal")
"""Endings of SQLite's files: the database, and what was written last and is not in it yet."""


def keep_damaged(path: Path) -> Path:
    """Copy a damaged file next to the original, once, and return the copy."""
    copy = path.with_name(f"{path.name}.damaged")
    if not copy.exists():
        for beside in FILES:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(f"{path}{beside}", f"{copy}{beside}")
    return copy
