"""Lock folders that are in use: the kernel releases the lock when the last holder ends, however it ends.

So a folder without a lock is abandoned. Where folders cannot be locked (Windows), no one knows what is abandoned.
"""

import os
import time
from pathlib import Path
from typing import Final

from viva.sandbox import system

_YOUNG_S: Final = 60.0
"""A folder is locked a moment after it is made; until then its age protects it."""


def lock_folder(folder: str) -> int:
    """Lock a folder as in use; return the descriptor that holds the lock, or -1 where folders cannot be locked."""
    if not system.LOCKS_FOLDERS:
        return -1
    import fcntl

    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return fd


def unlock_folder(lock: int) -> None:
    """Close what `lock_folder` returned."""
    if lock >= 0:
        os.close(lock)


def is_abandoned(folder: Path) -> bool:
    """Return whether a folder of this user's was locked once and is not any more."""
    if not system.LOCKS_FOLDERS:
        return False
    import fcntl

    try:
        status = folder.lstat()
        if status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG_S:
            return False
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
