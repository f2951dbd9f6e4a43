"""Files that only their own user can open, where boxes of several users have a folder in common (T1)."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable

_OF_OTHERS = 0o077
_SETS = ("supports_fd", "supports_dir_fd", "supports_follow_symlinks")
"""Where the module `os` says what each of its functions supports."""


def keep_files_private() -> None:
    """Give no one else any right to new files, and leave such rights out of changes of modes.

    The system call filter ignores calls that would give such a right; without this, mode 755 would make nothing
    executable.
    """
    os.umask(_OF_OTHERS)
    for name in ("chmod", "fchmod"):
        real = getattr(os, name)
        private = _without_others(real)
        setattr(os, name, private)
        for supported in (getattr(os, each) for each in _SETS):
            if real in supported:
                supported.add(private)


def _without_others(change: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(change)
    def private(target: Any, mode: int, **options: Any) -> None:
        change(target, mode & ~_OF_OTHERS, **options)

    return private
