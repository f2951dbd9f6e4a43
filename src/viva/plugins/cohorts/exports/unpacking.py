"""Unpack the archive of a whole class into a private folder: plain files only, and no more than fits on the disk.

The platform packed it, but students chose the names and the contents. Archives inside are not opened: each is one
student's, and the box unpacks it. A refused member is reported and the others are still unpacked. A file that is
larger than any submission keeps its size, as a hole, but not its contents: so its student reads that it is too large,
and no one else is affected. An archive that grows without end is refused as a whole.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.export_folder import not_read, refuse_folder
from viva.sandbox.guest.loading.archives import DAMAGED, Member, members_of_tar, members_of_zip, name_in_zip
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.class_export import Unmatched
from viva.submissions.file_names import safe
from viva.submissions.opening_by_descriptor import NotOpened, opened

_CHUNK: Final = 1 << 18
_MAX_HEADER: Final = 1 << 20
"""Bytes that a tar reader requests in one read, for a name or one of its tables."""
_MAX_COMPONENT: Final = 200
_MAX_PARTS: Final = 32
_MAX_HOLE: Final = 1 << 40
_GIT: Final = ".git"
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_COMPRESSED: Final[dict[bytes, Callable[[Any], Any]]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open,
}  # fmt: skip
_UNPACKS_TO_TOO_MUCH: Final = "unpacks to more than a class submits, or than there is room for on the disk"


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits on what the archive of a class unpacks to."""

    files: int = 200_000
    mib: int = 20_480
    """The limit for all files together."""
    file_mib: int = 128
    """The limit for one file: twice what a submission may hold."""
    student_mib: int = 1024
    """The limit for all files of one student."""


def unpack(path: Path, folder: Path, caps: Caps | None = None) -> list[Unmatched]:
    """Unpack the archive of a class into an empty private folder.

    Args:
        path: a zip or tar archive (gzip, bzip2, xz), whatever it is called.
        folder: the target; no other user may be able to write there.
        caps: how much is unpacked.

    Returns:
        The refused members, with the reasons.

    Raises:
        UsageError: it is not an archive, it is damaged, or it unpacks to more than `caps` allows.
    """
    caps = caps or Caps()
    room = shutil.disk_usage(folder).free * 9 // 10
    unpacker = _Unpacker(str(path), folder, caps, min(caps.mib << 20, room))
    try:
        with opened(path) as found:
            refuse_folder(found)
            with open(found.descriptor, "rb", closefd=False) as file:
                unpacker.unpack_all(file)
    except (NotOpened, FileNotFoundError) as error:
        raise not_read(path, error, "give the folder or the archive that the platform exported") from None
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise UsageError(f"{folder}: there is no room on the disk for what {path} holds.") from None
        raise UsageError(
            f"{path} is damaged, or no archive that is known here ({type(error).__name__}); "
            "download it again, or give the folder that was unpacked from it (zip and tar.gz are known)."
        ) from None
    return unpacker.refused


@dataclass(slots=True)
class _Unpacker:
    archive: str
    folder: Path
    caps: Caps
    bytes_left: int
    refused: list[Unmatched] = field(default_factory=list)
    wrappers: int = 1
    """Folders around those of the students."""
    _used: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Bytes by student."""
    _files: int = 0

    def unpack_all(self, file: IO[bytes]) -> None:
        """Unpack every member of an archive."""
        for number, member in enumerate(self._members(file)):
            if number >= 2 * self.caps.files:
                raise _too_much(self.archive, f"holds more than {2 * self.caps.files:,} entries")
            reason = self._unpack_one(member)
            if reason:
                self.refused.append(Unmatched(safe(member.name)[:300], reason))

    def _members(self, file: IO[bytes]) -> Iterator[Member]:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                self.wrappers = _count_wrappers(name_in_zip(member) for member in archive.infolist())
                yield from members_of_zip(archive)
            return
        file.seek(0)
        start = file.read(8)
        file.seek(0)
        opener = next((opener for mark, opener in _COMPRESSED.items() if start.startswith(mark)), None)
        stream = opener(file) if opener is not None else file
        bounded = _BoundedStream(stream, self.bytes_left + (64 << 20), self.archive)
        with tarfile.open(fileobj=bounded, mode="r:") as tar:
            yield from members_of_tar(tar)

    def _unpack_one(self, member: Member) -> str:
        """Unpack a member; return why it is refused, or an empty text."""
        parts = [*member.parts()]
        reason = _refusal(member, parts)
        is_folder = member.kind == "folder"
        if any(map(is_not_the_work, parts)):
            if reason or _GIT not in parts:
                return ""
            parts = parts[: parts.index(_GIT) + 1]  # a clone is recognized by it; its contents are not needed
            is_folder = True
        if reason:
            return reason
        target = self.folder.joinpath(*map(_shorten, parts))
        folder = target if is_folder else target.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if is_folder:
                return ""
            self._files += 1
            if self._files > self.caps.files:
                raise _too_much(self.archive, f"holds more than {self.caps.files:,} files")
            descriptor = os.open(target, _NEW_FILE, 0o600)
        except FileExistsError:
            return "is in the archive twice, perhaps in another spelling; the first one was taken"
        except OSError as error:
            return f"cannot be written here ({error.strerror})"
        with os.fdopen(descriptor, "wb") as file, member.open() as source:
            self._copy(source, file, member.size, tuple(parts[: self.wrappers + 1]))
        return ""

    def _copy(self, source: IO[bytes], file: IO[bytes], claimed: int, student: tuple[str, ...]) -> None:
        """Copy a file as far as its student may fill the disk, counting the bytes that come out; the rest is a hole."""
        limit = min(self.caps.file_mib << 20, (self.caps.student_mib << 20) - self._used[student])
        size = 0
        while part := source.read(_CHUNK):
            size += len(part)
            if size > limit:
                file.truncate(max(size, min(claimed, _MAX_HOLE)))
                break
            self.bytes_left -= len(part)
            if self.bytes_left < 0:
                raise _too_much(self.archive, _UNPACKS_TO_TOO_MUCH)
            file.write(part)
        self._used[student] += min(size, limit)


def _count_wrappers(names: Iterable[str]) -> int:
    """Return how many folders all names begin with."""
    common: list[str] | None = None
    for name in names:
        folders = [part for part in name.replace("\\", "/").split("/")[:-1] if part not in ("", ".")]
        if common is None:
            common = folders
        while folders[: len(common)] != common:
            common.pop()
    return len(common or ())


def _refusal(member: Member, parts: list[str]) -> str:
    if member.kind not in ("file", "folder"):
        return f"is {member.kind}; only plain files are taken"
    if member.leads_outside():
        return "would be written outside the class's folder"
    return f"is deeper than {_MAX_PARTS} folders" if len(parts) > _MAX_PARTS else ""


def _shorten(part: str) -> str:
    """Shorten a component that is too long for a file system; its start and its ending stay."""
    data = os.fsencode(part)
    if len(data) <= _MAX_COMPONENT:
        return part
    ending = "".join(c for c in Path(part).suffix if c.isascii())[:12]
    return f"{data[: _MAX_COMPONENT - 24].decode('utf-8', 'ignore')}~{sha256(data).hexdigest()[:8]}{ending}"


def _too_much(archive: str, reason: str) -> UsageError:
    return UsageError(
        f"{archive} {reason}: nothing was taken from it; give the folder of one class, or look into it first."
    )


class _BoundedStream(io.RawIOBase):
    """A stream that limits its total and each read: a tar's own tables can claim any length."""

    def __init__(self, stream: IO[bytes], limit: int, archive: str) -> None:
        super().__init__()
        self._stream, self._limit, self._archive = stream, limit, archive

    def read(self, size: int = -1) -> bytes:
        """Read as from any stream; a tar reader asks for as many bytes as a header claims."""
        if size < 0 or size > _MAX_HEADER:
            raise _too_much(self._archive, "has a header of a size that no export has")
        self._check(self._stream.tell() + size)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move forwards by reading; never beyond the limit."""
        if whence != 0:
            raise ValueError("a tar is read from its start")
        self._check(offset)
        return self._stream.seek(offset)

    def tell(self) -> int:
        """Return how many bytes have been unpacked."""
        return self._stream.tell()

    def _check(self, position: int) -> None:
        if position > self._limit:
            raise _too_much(self._archive, _UNPACKS_TO_TOO_MUCH)
