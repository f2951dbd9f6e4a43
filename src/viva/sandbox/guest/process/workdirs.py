"""Work directories of boxes that have no mounts of their own (T1, T0): made before, removed after."""

from __future__ import annotations

import fcntl
import os
import tempfile
from typing import Iterable, Tuple

from ..transport.control import OURS

SHARED = ("/dev/shm", "/tmp", "/var/tmp")
"""Where every user may write."""


def make_base(tier: str, examiner: int) -> str:
    """One directory for all boxes of a fork server; on a memory file system if root must share it out.

    The examiner's pid is in its name, so that a person can tell whose it is.
    """
    where = "/dev/shm" if tier == "T1" and os.path.isdir("/dev/shm") else None
    base = os.path.realpath(tempfile.mkdtemp(prefix=f"{OURS}{examiner}-", dir=where))
    os.chmod(base, 0o711 if tier == "T1" else 0o700)
    # Held by this process and its children for as long as they live: what nobody holds, later examiners remove.
    fcntl.flock(os.open(base, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH)
    return base


def make_room(base: str, name: str, owner: int) -> Tuple[str, str]:
    """(work directory, directory for temporary files) of one box; `owner` -1 keeps the current user."""
    room = os.path.join(base, name)
    os.mkdir(room)
    os.chmod(room, 0o711)
    pair = os.path.join(room, "work"), os.path.join(room, "tmp")
    for path in pair:
        os.mkdir(path, 0o700)
        os.chown(path, owner, owner)
    return pair


def open_to_all(path: str) -> None:
    """Let every user read a tree of ours."""
    for folder, _, files in os.walk(path):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)


def remove(path: str) -> None:
    """Delete a tree however deep it is and however its owner set its modes; nothing of it may be in use any more.

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
    """Delete what a user of ours left in folders that every user may write to; needs root."""
    for place in places:
        left = [entry.path for entry in os.scandir(place) if _owner(entry) == uid] if os.path.isdir(place) else []
        if left:
            # A folder of our own first: in the shared one others may take the names that `remove` needs.
            bag = tempfile.mkdtemp(prefix="viva-", dir=place)
            for count, path in enumerate(left):
                os.rename(path, os.path.join(bag, str(count)))
            remove(bag)


def _owner(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except FileNotFoundError:
        return -1
