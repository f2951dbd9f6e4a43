"""Work directories of boxes without their own mounts (T1, T0)."""

from __future__ import annotations

import fcntl
import os
import tempfile
from typing import Iterable, Tuple

from ..transport.control import FOLDER_PREFIX

SHARED = ("/dev/shm", "/tmp", "/var/tmp")  # noqa: S108  # only cleaned
"""Folders in which every user may write."""


_MEMORY = "/dev/shm"  # noqa: S108  # mkdtemp makes the names


def make_base(tier: str, examiner: int) -> str:
    """Make one directory for all boxes of a fork server; in T1 on a memory file system.

    The examiner's pid is in its name, so that a person can see which examiner it belongs to.
    """
    where = _MEMORY if tier == "T1" and os.path.isdir(_MEMORY) else None
    base = os.path.realpath(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{examiner}-", dir=where))
    os.chmod(base, 0o711 if tier == "T1" else 0o700)
    # This process and its children hold the lock while they live; later examiners remove unlocked directories.
    fcntl.flock(os.open(base, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH)
    return base


def make_workdir(base: str, name: str, owner: int) -> Tuple[str, str]:
    """Make (work directory, directory for temporary files) of one box; `owner` -1 keeps the current user."""
    folder = os.path.join(base, name)
    os.mkdir(folder)
    os.chmod(folder, 0o711)  # noqa: S103  # the box's user passes through, to its own folders
    pair = os.path.join(folder, "work"), os.path.join(folder, "tmp")
    for path in pair:
        os.mkdir(path, 0o700)
        os.chown(path, owner, owner)
    return pair


def open_to_all(path: str) -> None:
    """Let every user read a tree of viva's files."""
    for folder, _, files in os.walk(path):
        os.chmod(folder, 0o755)  # noqa: S103  # the package is no secret, and the box's user must read it
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)


def remove(path: str) -> None:
    """Delete a tree of any depth and with any modes; nothing of it may be in use any more.

    Directories are moved up next to `path` and emptied there, so that neither recursion nor path length grows with
    the depth of the tree.
    """
    parent, count = os.path.dirname(path), 0
    pending = [path]
    while pending:
        folder = pending.pop()
        try:
            os.chmod(folder, 0o700)
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += 1
                moved = os.path.join(parent, f".{os.path.basename(path)}-{count}")
                os.chmod(entry.path, 0o700)
                os.rename(entry.path, moved)
                pending.append(moved)
            else:
                os.unlink(entry.path)
        os.rmdir(folder)


def remove_belongings(uid: int, places: Iterable[str]) -> None:
    """Delete what the user of a box left in folders that every user may write to; needs root."""
    for place in places:
        left = [entry.path for entry in os.scandir(place) if _owner(entry) == uid] if os.path.isdir(place) else []
        if left:
            # `remove` makes names next to what it removes: in the shared folder, others may have taken them.
            private = tempfile.mkdtemp(prefix="viva-", dir=place)
            taken = os.path.join(private, "left")
            os.mkdir(taken)
            for count, path in enumerate(left):
                os.rename(path, os.path.join(taken, str(count)))
            remove(taken)
            os.rmdir(private)


def _owner(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except FileNotFoundError:
        return -1
