"""The files of an assignment of another tool: a folder or a zip archive, read with limits, no link followed."""

import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError

MAX_FILES: Final = 2000
MAX_BYTES: Final = 256 << 20
MAX_DEPTH: Final = 12
_LITTER: Final = frozenset(
    {"__pycache__", ".ipynb_checkpoints", ".git", ".venv", "node_modules", ".OTTER_LOG", "__MACOSX"}
)
_DAMAGED: Final = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
)
Entries = Iterable[tuple[str, int, Callable[[], bytes]]]
"""The path of each file, its size, and what reads it."""


def read_bundle(path: Path) -> dict[str, bytes]:
    """Return every file by its path below the folder or in the archive, without caches, links and hidden files.

    Raises:
        UsageError: there is nothing, it is neither a folder nor a zip archive, or it is too large.
    """
    if path.is_dir():
        return _read_entries(_list_folder(path, path), str(path))
    if not path.is_file():
        raise UsageError(f"{path}: no such file or folder; give the folder of the assignment, or its zip archive.")
    if path.suffix == ".ipynb":
        return {path.name: path.read_bytes()}
    return read_zip(path.read_bytes(), str(path))


def read_named_files(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return files below a folder by their path in it: those named, those in named folders, and those of a pattern.

    Raises:
        UsageError: they are too large.
    """
    entries: list[tuple[str, int, Callable[[], bytes]]] = []
    for name in map(PurePosixPath, names):
        if not name.parts or name.is_absolute() or ".." in name.parts:
            continue
        for found in sorted(folder.glob(name.as_posix())):
            relative = found.relative_to(folder).as_posix()
            if found.is_symlink() or is_litter(relative):
                continue
            if found.is_dir():
                entries += _list_folder(found, folder)
            elif found.is_file():
                entries.append((relative, found.stat().st_size, found.read_bytes))
    by_path = {entry[0]: entry for entry in entries}  # a file may be named twice, by itself and in a folder
    return _read_entries(by_path.values(), str(folder))


def read_zip(data: bytes, shown: str) -> dict[str, bytes]:
    """Return every file of an archive, by its path in it.

    Raises:
        UsageError: it is not a zip archive, damaged, or too large, or a path leads out of it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_entries(_list_zip(archive, shown), shown)
    except _DAMAGED as error:
        raise UsageError(f"{shown} is not a readable zip archive ({error}); give a folder or a zip archive.") from None


def is_litter(path: str) -> bool:
    """Return whether a path is a cache, or one that systems hide."""
    return any(part in _LITTER or part.startswith(("._", ".DS_Store")) for part in PurePosixPath(path).parts)


def select_below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Return the files below a folder, by their path in it; all of them for ""."""
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    return {path[len(prefix) :]: data for path, data in files.items() if path.startswith(prefix)}


def _list_folder(folder: Path, root: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    for here, folders, names in os.walk(folder):
        if len(Path(here).relative_to(folder).parts) > MAX_DEPTH:
            raise UsageError(
                f"{folder} holds folders deeper than {MAX_DEPTH} levels; give the assignment's own folder."
            )
        folders[:] = sorted(name for name in folders if not is_litter(name))  # os.walk follows no link
        for name in sorted(names):
            path = Path(here, name)
            if path.is_file() and not path.is_symlink() and not is_litter(name):
                yield path.relative_to(root).as_posix(), path.stat().st_size, path.read_bytes


def _list_zip(archive: zipfile.ZipFile, shown: str) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    for entry in archive.infolist():
        path = PurePosixPath(entry.filename)
        is_link = (entry.external_attr >> 16) & 0o170000 == 0o120000
        if entry.is_dir() or is_link or is_litter(entry.filename):
            continue
        if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or "\0" in entry.filename:
            raise UsageError(f"{shown}: the path {entry.filename!r:.80} in it points outside the archive.")

        def read(entry: zipfile.ZipInfo = entry) -> bytes:
            with archive.open(entry) as file:
                return file.read(entry.file_size + 1)

        yield path.as_posix(), entry.file_size, read


def _read_entries(entries: Entries, shown: str) -> dict[str, bytes]:
    """Read files; what one holds may not be more than it declares."""
    files: dict[str, bytes] = {}
    total = 0
    for path, size, read in entries:
        total += size
        is_large = len(files) >= MAX_FILES or total > MAX_BYTES
        files[path] = b"" if is_large else read()
        if is_large or len(files[path]) > size:
            raise UsageError(
                f"{shown} holds more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB; "
                "give the folder of one assignment, without submissions and data sets."
            )
    return files
