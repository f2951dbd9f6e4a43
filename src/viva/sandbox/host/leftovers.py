"""Directories of examiners that were killed together with their keeper: told by a lock that nobody holds, removed.

Every directory of ours is claimed by a lock on it, which the kernel lets go when the last holder ends, however it ends.
A pid in the name is for people; it would say nothing across containers that share a folder. Where folders cannot be
locked (Windows) nothing tells what is abandoned, and nothing is removed.
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
from viva.sandbox.guest.transport.control import OURS

_OURS: Final = re.compile(re.escape(OURS) + "[0-9]+-.+")
_YOUNG_S: Final = 60.0
"""A directory is claimed a moment after it is made; until then its age protects it."""


def claim(folder: str) -> int:
    """Lock a directory of ours; returns the descriptor that holds the claim until it is closed.

    It is -1 where folders cannot be locked.
    """
    if not system.LOCKS_FOLDERS:
        return -1
    import fcntl

    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return fd


def let_go(claim: int) -> None:
    """Close what `claim` returned."""
    if claim >= 0:
        os.close(claim)


def sweep_files() -> None:
    """Remove abandoned directories of boxes and canaries."""
    if not system.LOCKS_FOLDERS:
        return
    for folder in _abandoned({tempfile.gettempdir(), "/dev/shm"}):
        shutil.rmtree(folder, ignore_errors=True)


def sweep_cgroups(parents: Iterable[str]) -> None:
    """Remove abandoned cgroups below the folders where ours are made; a process in one keeps it."""
    for folder in _abandoned(parents):
        for child in (*(path for path in folder.iterdir() if path.is_dir()), folder):
            with contextlib.suppress(OSError):
                child.rmdir()


def _abandoned(parents: Iterable[str]) -> Iterator[Path]:
    for parent in parents:
        with contextlib.suppress(OSError):
            for folder in Path(parent).glob(f"{OURS}*"):
                if _OURS.fullmatch(folder.name) and _is_abandoned(folder):
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
