"""Keep what was unpacked or gathered in a stable folder: the same export leads to the same paths each time."""

import dataclasses
import filecmp
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import sweep_parts
from viva.model.errors import UsageError
from viva.sandbox.folder_locks import lock_folder, unlock_folder
from viva.submissions.classes.class_export import ClassExport

UNPACKED: Final = ".class"
"""The folder for what a platform's export unpacks to: in the folder of the results, else next to grader.yaml."""
_PLACE: Final = re.compile("[0-9a-f]{12}")


def place_in(folder: Path, export: Path) -> Path:
    """Return where an export unpacks to below a folder."""
    return folder / UNPACKED / sha256(str(export.resolve()).encode()).hexdigest()[:12]


def read_into_stable_folder(read: Callable[[Path], ClassExport], place: Path) -> ClassExport:
    """Read a class, and keep what was unpacked for it at `place`, which is private.

    What is already there is kept if it is the same, so that a process that reads it is not disturbed; else it is
    replaced as a whole.

    Args:
        read: reads the class and unpacks into the folder that it is given; see `read_class`.
        place: the folder to keep; it is not made if nothing had to be unpacked.

    Raises:
        UsageError: as `read`, or the folder cannot be written.
    """
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep_parts(place.parent)
        part = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
        lock = lock_folder(str(part))
    except OSError as error:
        raise UsageError(f"{place.parent}: nothing can be unpacked there ({error.strerror}).") from None
    try:
        found = read(part)
        if not any(attempt.path.is_relative_to(part) for attempt in found.attempts):
            return found
        unpacked = next(iter(part.iterdir()))
        if not _are_same(unpacked, place):
            _replace(unpacked, place, part)
        moved = [
            dataclasses.replace(attempt, path=place / attempt.path.relative_to(unpacked))
            if attempt.path.is_relative_to(unpacked)
            else attempt
            for attempt in found.attempts
        ]
        return dataclasses.replace(found, attempts=tuple(moved))
    except OSError as error:
        raise UsageError(f"{place}: what was unpacked cannot be kept there ({error.strerror}).") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        unlock_folder(lock)


def is_copy(path: Path) -> bool:
    """Return whether a submission lies in a folder that `viva grade` made for the contents of an export."""
    parts = path.parts
    return any(one == UNPACKED and _PLACE.fullmatch(other) for one, other in itertools.pairwise(parts[:-1]))


def remove_copy(path: Path) -> None:
    """Remove such a submission, and what a killed run had unpacked next to it.

    Raises:
        UsageError: it cannot be removed.
    """
    sweep_parts(next(folder for folder in path.parents if folder.name == UNPACKED))
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be removed: {error.strerror}; remove it by hand.") from None


def _replace(unpacked: Path, place: Path, part: Path) -> None:
    if place.exists():
        place.rename(part / "before")
    unpacked.rename(place)


def _are_same(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same names and the same bytes."""
    if not other.is_dir() or other.is_symlink():
        return False
    files = [_files(one), _files(other)]
    if files[0] != files[1]:
        return False
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in files[0])


def _files(folder: Path) -> list[str]:
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
