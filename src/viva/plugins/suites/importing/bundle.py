"""The files of an assignment of another tool: a folder or a zip archive, read with limits, no link followed."""

import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError

MOST_FILES: Final = 2000
MOST_BYTES: Final = 256 << 20
MOST_DEPTH: Final = 12
_LITTER: Final = frozenset({"__pycache__", ".ipynb_checkpoints", ".git", ".venv", "node_modules", ".OTTER_LOG"})


def read_bundle(path: Path) -> dict[str, bytes]:
    """Return every file by its path below the folder or in the archive, without caches, links and hidden files.

    Raises:
        UsageError: there is nothing, it is neither a folder nor a zip archive, or it is too large.
    """
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file or folder; give the folder of the assignment, or its zip archive.")
    if path.suffix == ".ipynb":
        return {path.name: path.read_bytes()}
    return files_of_zip(path.read_bytes(), str(path))


def named_files(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return files below a folder by their path in it: those named, those in named folders, and those of a pattern.

    Raises:
        UsageError: they are too large.
    """
    files: dict[str, bytes] = {}
    for name in names:
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
            continue
        for found in sorted(folder.glob(PurePosixPath(name).as_posix())):
            at = found.relative_to(folder).as_posix()
            if found.is_symlink() or is_litter(at):
                continue
            if found.is_dir():
                files |= {f"{at}/{path}": data for path, data in _of_folder(found).items()}
            elif found.is_file():
                files[at] = found.read_bytes()
    if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_BYTES:
        raise UsageError(_too_large(str(folder)))
    return files


def files_of_zip(data: bytes, shown: str) -> dict[str, bytes]:
    """Return every file of an archive, by its path in it.

    Raises:
        UsageError: it is not a zip archive, damaged, or too large, or a path leads out of it.
    """
    import io

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [e for e in archive.infolist() if not e.is_dir() and not is_litter(e.filename)]
            if len(entries) > MOST_FILES or sum(e.file_size for e in entries) > MOST_BYTES:
                raise UsageError(_too_large(shown))
            return {_inside(e.filename, shown): _content(archive, e, shown) for e in entries if not _is_link(e)}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise UsageError(f"{shown} is not a readable zip archive ({error}); give a folder or a zip archive.") from None


def is_litter(path: str) -> bool:
    """Return whether a path is a cache, or one that systems hide."""
    parts = PurePosixPath(path).parts
    return any(part in _LITTER or part.startswith(("._", ".DS_Store")) for part in parts) or "__MACOSX" in parts


def below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Return the files below a folder, by their path in it; all of them for ""."""
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    return {path[len(prefix) :]: data for path, data in files.items() if path.startswith(prefix)}


def _of_folder(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    size = 0
    for at, folders, names in os.walk(folder):
        here = Path(at)
        depth = len(here.relative_to(folder).parts)
        if depth > MOST_DEPTH:
            raise UsageError(
                f"{folder} holds folders deeper than {MOST_DEPTH} levels; give the assignment's own folder."
            )
        folders[:] = sorted(f for f in folders if not is_litter(f) and not (here / f).is_symlink())
        for name in sorted(names):
            path = here / name
            if path.is_symlink() or not path.is_file() or is_litter(name):
                continue
            size += path.stat().st_size
            if len(files) >= MOST_FILES or size > MOST_BYTES:
                raise UsageError(_too_large(str(folder)))
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def _inside(name: str, shown: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise UsageError(f"{shown}: the path {name!r:.80} in it points outside the archive. Pack it again.")
    return path.as_posix()


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, shown: str) -> bytes:
    """Return what an entry holds, which may not be more than it declares."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) > entry.file_size:
        raise UsageError(_too_large(shown))
    return data


def _is_link(entry: zipfile.ZipInfo) -> bool:
    return (entry.external_attr >> 16) & 0o170000 == 0o120000


def _too_large(shown: str) -> str:
    return (
        f"{shown} holds more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MiB; "
        "give the folder of one assignment, without submissions and data sets."
    )
