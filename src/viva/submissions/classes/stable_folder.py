"""Keep what was unpacked or gathered in a stable folder: the same export leads to the same paths each time."""

import dataclasses
import filecmp
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from viva.model.errors import UsageError
from viva.submissions.classes.class_export import ClassExport


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
        part = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
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
