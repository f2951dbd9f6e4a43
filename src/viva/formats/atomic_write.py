"""Write a file whole or not at all: readers see the old bytes or the new ones, even if the process is killed.

What a process that was killed had not finished can be found and removed.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viva.model import system
from viva.model.errors import UsageError
from viva.sandbox.folder_locks import is_abandoned

_FILE: Final = re.compile(r"\..+\.[0-9a-f]{12}\.part", re.DOTALL)
"""As `write_atomically` names it."""
_FOLDER: Final = re.compile(r"\..+\.part", re.DOTALL)
"""As `read_into_stable_folder` names it."""
_WRITTEN_S: Final = 3600.0
"""No file takes this long to write."""


def write_atomically(path: Path, data: bytes, *, durable: bool = True, mode: int | None = None) -> None:
    """Replace a file, or make it with the folders above it.

    Args:
        path: the file; a link stays a link, and its target is replaced.
        data: the new bytes.
        durable: wait until the disk holds them; not needed for an intermediate state that is soon written again.
        mode: the file's permissions; None for those of the file that is replaced, or of any new file.

    Raises:
        UsageError: it cannot be written; the old file, if there is one, is unchanged.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode_of(target) if mode is None else mode
        _write(temporary, data, mode, durable=durable)
        _rename(temporary, target, data)
        if durable:
            _flush_folder(target.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise UsageError(_sentence(path, error)) from None
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _write(temporary: Path, data: bytes, mode: int | None, *, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NO_LINK | system.NOT_INHERITED | system.AS_BYTES
    descriptor = os.open(temporary, flags, 0o666)
    try:
        if mode is not None and hasattr(os, "fchmod"):  # Windows has no such permissions
            os.fchmod(descriptor, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rename(temporary: Path, target: Path, data: bytes) -> None:
    """Rename the file; on NFS the name may be gone because the server did it, and its answer was lost."""
    try:
        temporary.replace(target)
    except FileNotFoundError:
        if temporary.exists() or target.read_bytes() != data:
            raise


def _mode_of(target: Path) -> int | None:
    """Return the permissions of the file that is replaced; None where there is none."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can open folders and the file system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | system.NOT_INHERITED)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sentence(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{path} cannot be written: the disk is full; what was there before is unchanged."
    if error.errno == errno.EROFS:
        return f"{path} cannot be written: the file system is read-only; say another place with -o."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{path} cannot be written: no permission; say another place with -o."
    if error.errno == errno.EISDIR:
        return f"{path} cannot be written: it is a folder."
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{path} cannot be written: a folder on the way to it is a file."
    return f"{path} cannot be written: {error.strerror or error}."


def leftover_parts(folder: Path) -> Iterator[Path]:
    """Yield the files and folders below a folder that a process which has ended had not finished."""
    for path in sorted(folder.rglob(".*.part")) if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            if path.is_symlink():
                continue
            if path.is_dir():
                found = _FOLDER.fullmatch(path.name) is not None and is_abandoned(path)
            else:
                found = _FILE.fullmatch(path.name) is not None and time.time() - path.lstat().st_mtime > _WRITTEN_S
            if found:
                yield path


def sweep_parts(folder: Path) -> None:
    """Remove them; what cannot be removed stays."""
    for path in leftover_parts(folder):
        with contextlib.suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
