"""Remove directories of examiners that were killed together with the supervisor of their fork server.

Every directory of viva is locked while it is in use; one without a lock is abandoned. The pid in the name is for
people: it says nothing across containers that share a folder.
"""

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from viva.sandbox.folder_locks import is_abandoned
from viva.sandbox.guest.transport.control import FOLDER_PREFIX

_NAME: Final = re.compile(re.escape(FOLDER_PREFIX) + "[0-9]+-.+")


def sweep_files() -> None:
    """Remove abandoned directories of boxes and canaries."""
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
                if _NAME.fullmatch(folder.name) and is_abandoned(folder):
                    yield folder
