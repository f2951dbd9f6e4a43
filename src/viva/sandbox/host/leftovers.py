"""Remove directories of examiners that were killed together with the supervisor of their fork server.

Every directory of viva is locked while it is in use, and the kernel releases the lock when the last holder ends,
however it ends. So a directory without a lock is abandoned. The pid in the name is for people: it says nothing across
containers that share a folder. Where folders cannot be locked (Windows), no one knows what is abandoned, and nothing is
removed.
"""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from viva.model import system
from viva.sandbox.guest.transport.control import FOLDER_PREFIX

_NAME: Final = re.compile(re.escape(FOLDER_PREFIX) + "[0-9]+-.+")
_YOUNG_S: Final = 60.0
"""A directory is locked a moment after it is made; until then its age protects it."""


def lock_folder(folder: str) -> int:
    """Lock a directory as in use; return the descriptor that holds the lock, or -1 where folders cannot be locked."""
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


def sweep_files() -> None:
    """Remove abandoned directories of boxes and canaries."""
    if not system.LOCKS_FOLDERS:
        return
    for folder in _abandoned({tempfile.gettempdir(), "/dev/shm"}):  # noqa: S108  # only looked through; workdirs.py makes
        shutil.rmtree(folder, ignore_errors=True)


def sweep_cgroups(parents: Iterable[str]) -> None:
    """Remove abandoned cgroups below the folders in which viva makes them; a cgroup with a process in it stays."""
    for folder in _abandoned(parents):
        for child in (*(path for path in folder.iterdir() if path.is_dir()), folder):
            with contextlib.suppress(OSError):
                child.rmdir()


def _abandoned(parents: Iterable[str]) -> Iterator[Path]:
    for parent in parents:
        with contextlib.suppress(OSError):
            for folder in Path(parent).glob(f"{FOLDER_PREFIX}*"):
                if _NAME.fullmatch(folder.name) and _is_abandoned(folder):
                    yield folder


def _is_abandoned(folder: Path) -> bool:
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
