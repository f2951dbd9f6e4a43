"""Unpack archives where they can do no harm: in the box, next to the archive, plain files only.

Nothing in an archive is trusted: names may lead elsewhere, sizes may lie, members may be links. If one member is
refused, only that member is lost; an archive that exceeds the caps is not unpacked any further.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional

from . import sources, storable_names

if TYPE_CHECKING:
    from ..transport.message_types import Request

MOST_FILES = 2000
MOST_BYTES = 48 << 20
"""The size of all unpacked files together; less than the disk of the box."""
MOST_MEMBERS = 20_000
_SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_COPY = 1 << 16
_COMPRESSED: Dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_IGNORED = frozenset({".viva", "__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", "Thumbs.db"})
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError,
            RuntimeError, NotImplementedError, KeyError, IndexError, OverflowError, MemoryError)  # fmt: skip


class Refused(Exception):
    """A member is not unpacked; `str()` says why, and follows the member's name in a message."""


class TooMuch(Exception):
    """The archive is not unpacked any further; `str()` says why."""


class _Member(NamedTuple):
    name: str
    kind: str
    """"file", or what it is instead."""
    mode: int
    source: Callable[[], Any]
    """Opens the bytes as a file."""


def unpack(request: Request) -> Dict[str, object]:
    """Unpack the archive `path` into its own folder.

    Returns:
        `{"files": [[path, size]], "problem": str | None}`: what was unpacked, despite any problem, and one sentence
        for the student about the first problem.
    """
    path: str = request["path"]
    unpacking = _Unpacking(path)
    try:
        for member in _members(sources.path_of(path)):
            unpacking.unpack(member)
    except TooMuch as error:
        unpacking.add_problem(f"{path} was not unpacked any further: {error}")
    except _DAMAGED:
        unpacking.add_problem(f"{path} is damaged, or no archive that is known here (zip, tar, gz, bz2, xz)")
    return {"files": list(unpacking.files.items()), "problem": unpacking.problem_text()}


class _Unpacking:
    """The state of one unpacking."""

    def __init__(self, path: str) -> None:
        self._archive, self._folder = path, os.path.dirname(path)
        self._bytes_left, self._members = MOST_BYTES, 0
        self._problems: List[str] = []
        self.files: Dict[str, int] = {}

    def add_problem(self, text: str) -> None:
        self._problems.append(text)

    def problem_text(self) -> Optional[str]:
        more = f" (and {len(self._problems) - 1} more)" if len(self._problems) > 1 else ""
        return f"{self._problems[0]}{more}." if self._problems else None

    def unpack(self, member: _Member) -> None:
        self._members += 1
        if self._members > MOST_MEMBERS or len(self.files) >= MOST_FILES:
            raise TooMuch(f"it holds more than {MOST_FILES:,} files")
        if member.kind == "folder" or _IGNORED.intersection(member.name.split("/")):
            return
        try:
            target = self._target(member)
            path = target.replace(os.sep, "/")
            size = self._write(member, target)
            if path in self.files:  # programs that show an archive differ in which one they show
                self.add_problem(f"{member.name[:200]!r} is in {self._archive} more than once; the last one counts")
            self.files[path] = size
        except Refused as error:
            self.add_problem(f"{member.name[:200]!r} in {self._archive} was left out: {error}")

    def _target(self, member: _Member) -> str:
        name = member.name.replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or name[1:2] == ":" or "\0" in name or not parts:
            raise Refused("it would be written outside the submission")
        if member.kind != "file":
            raise Refused(f"it is {member.kind}; only plain files are unpacked")
        if member.mode & (stat.S_ISUID | stat.S_ISGID):
            raise Refused("it is marked to run as another user")
        why = storable_names.refusal_reason("/".join(parts))
        if why:
            raise Refused(why)
        target = os.path.join(self._folder, *parts)
        if target == os.path.normpath(self._archive):
            raise Refused("it is named like the archive itself")
        return target

    def _write(self, member: _Member, target: str) -> int:
        """Copy the member to `target`, and return the number of bytes that really came out."""
        try:
            target = sources.path_of(target)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not hasattr(os, "O_NOFOLLOW") and os.path.islink(target):  # on other systems os.open refuses it
                raise Refused("it cannot be written here (a link is in the way)")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _SAFE_FLAGS
            descriptor = os.open(target, flags, 0o644)
        except OSError as error:
            raise Refused(f"it cannot be written here ({error.strerror})") from error
        size = 0
        with os.fdopen(descriptor, "wb") as file, member.source() as source:
            while True:
                part = source.read(_COPY)
                if not part:
                    return size
                size += len(part)
                self._bytes_left -= len(part)
                if self._bytes_left < 0:
                    file.truncate(0)
                    raise TooMuch(f"unpacked it takes more than {MOST_BYTES >> 20} MiB")
                file.write(part)


def _members(path: str) -> Iterator[_Member]:
    if os.path.getsize(path) == 0:
        raise EOFError
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from _of_zip(archive)
        return
    base, extension = os.path.splitext(os.path.basename(path))
    opener = _COMPRESSED.get(extension.lower())
    try:
        with tarfile.open(path) as tar:
            yield from _of_tar(tar)
    except tarfile.ReadError:
        if opener is None or base.lower().endswith(".tar"):
            raise
        yield _Member(base, "file", 0, lambda: opener(path))


def _of_zip(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for member in archive.infolist():
        mode = member.external_attr >> 16
        kind = "folder" if member.filename.endswith("/") else _kind(stat.S_IFMT(mode) or stat.S_IFREG)
        if member.flag_bits & 1:
            kind = "encrypted"
        yield _Member(member.filename, kind, mode, functools.partial(archive.open, member))


def _of_tar(archive: tarfile.TarFile) -> Iterator[_Member]:
    for member in archive:
        kind = "file" if member.isreg() else "folder" if member.isdir() else "a device"
        kind = "a link" if member.issym() or member.islnk() else kind
        yield _Member(member.name, kind, member.mode, functools.partial(_bytes_of, archive, member))


def _bytes_of(archive: tarfile.TarFile, member: tarfile.TarInfo) -> BinaryIO:
    source = archive.extractfile(member)
    if source is None:
        raise Refused("it has no content")
    return source  # type: ignore[return-value]


def _kind(file_type: int) -> str:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "a link"}
    return kinds.get(file_type, "a device")
