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
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from viva.model.errors import UsageError
from viva.sandbox.guest.loading.archives import DAMAGED, Member, members_of_tar, members_of_zip, name_in_zip
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.classes.class_export import Unmatched
from viva.submissions.file_names import safe
from viva.submissions.open_submission import no_such_path
from viva.submissions.opening_by_descriptor import LinkOnTheWay, NotOpened, opened

_COPY: Final = 1 << 18
_MOST_HEADER: Final = 1 << 20
"""Bytes that a tar reader requests in one read, for a name or one of its tables."""
_MOST_COMPONENT: Final = 200
_GIT: Final = ".git"
_MOST_PARTS: Final = 32
_LARGEST_HOLE: Final = 1 << 40
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_COMPRESSED: Final[tuple[tuple[bytes, Callable[[Any], Any]], ...]] = (
    (b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open),
)  # fmt: skip


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


@dataclass(slots=True)
class _Quota:
    """What may still be unpacked."""

    shown: str
    caps: Caps
    bytes: int
    files: int = 0
    members: int = 0

    def take(self, size: int) -> None:
        self.bytes -= size
        if self.bytes < 0:
            raise _too_much(self.shown, "unpacks to more than a class submits, or than there is room for on the disk")

    def take_member(self) -> None:
        self.members += 1
        if self.members > 2 * self.caps.files:
            raise _too_much(self.shown, f"holds more than {2 * self.caps.files:,} entries")

    def take_file(self) -> None:
        self.files += 1
        if self.files > self.caps.files:
            raise _too_much(self.shown, f"holds more than {self.caps.files:,} files")


@dataclass(slots=True)
class _Unpacker:
    folder: Path
    quota: _Quota
    refused: list[Unmatched] = field(default_factory=list)
    wrappers: int = 1
    """Folders around those of the students."""
    used: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Bytes by student."""

    def take(self, member: Member) -> None:
        self.quota.take_member()
        parts = [*member.parts()]
        reason = _refusal(member, parts)
        if any(is_not_the_work(part) for part in parts):
            if reason is None and _GIT in parts:  # a clone is recognised by it; its contents are not needed
                self._make_folder(parts[: parts.index(_GIT) + 1])
            return
        if reason is None and member.kind == "folder":
            reason = self._make_folder(parts)
        elif reason is None:
            reason = self._write(member, parts)
        if reason is not None:
            self.refused.append(Unmatched(safe(member.name)[:300], reason))

    def _make_folder(self, parts: list[str]) -> str | None:
        try:
            self.folder.joinpath(*map(_short, parts)).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            return f"cannot be written here ({error.strerror})"
        return None

    def _write(self, member: Member, parts: list[str]) -> str | None:
        """Copy a file, counting the bytes that are really unpacked."""
        self.quota.take_file()
        target = self.folder.joinpath(*map(_short, parts))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(target, flags, 0o600)
        except FileExistsError:
            return "is in the archive twice, perhaps in another spelling; the first one was taken"
        except OSError as error:
            return f"cannot be written here ({error.strerror})"
        with os.fdopen(descriptor, "wb") as file, member.open() as source:
            self._copy(source, file, member.size, parts)
        return None

    def _copy(self, source: IO[bytes], file: IO[bytes], claimed: int, parts: list[str]) -> None:
        """Copy a file as far as its student may fill the disk; the rest is a hole."""
        student, caps = tuple(parts[: self.wrappers + 1]), self.quota.caps
        most = min(caps.file_mib << 20, (caps.student_mib << 20) - self.used[student])
        done = 0
        while part := source.read(_COPY):
            done += len(part)
            if done > most:
                file.truncate(max(done, min(claimed, _LARGEST_HOLE)))
                break
            self.quota.take(len(part))
            file.write(part)
        self.used[student] += min(done, most)


def unpack(path: Path, folder: Path, caps: Caps | None = None) -> list[Unmatched]:
    """Unpack the archive of a class into an empty private folder.

    Args:
        path: a zip or tar archive (gzip, bzip2, xz), whatever it is called.
        folder: the target; no other user may be able to write there.

    Returns:
        The refused members, with the reasons.

    Raises:
        UsageError: it is not an archive, it is damaged, or it unpacks to more than `caps` allows.
    """
    caps = caps or Caps()
    with _archive(path) as file:
        most = min(caps.mib << 20, shutil.disk_usage(folder).free * 9 // 10)
        unpacker = _Unpacker(folder, _Quota(str(path), caps, most))
        try:
            for member in _members(file, unpacker):
                unpacker.take(member)
        except DAMAGED as error:
            if isinstance(error, OSError) and error.errno in _DISK_FULL:
                raise UsageError(f"{folder}: there is no room on the disk for what {path} holds.") from None
            raise UsageError(
                f"{path} is damaged, or no archive that is known here ({type(error).__name__}); "
                "download it again, or give the folder that was unpacked from it (zip and tar.gz are known)."
            ) from None
    return unpacker.refused


@contextmanager
def _archive(path: Path) -> Iterator[IO[bytes]]:
    try:
        with opened(path) as found:
            if found.is_folder:
                raise NotOpened("is a folder")
            with open(found.descriptor, "rb", closefd=False) as file:
                yield file
    except FileNotFoundError:
        raise UsageError(no_such_path(path)) from None
    except LinkOnTheWay as error:
        raise UsageError(
            f"{path}: {error.where} is a link, and links are not followed; give the path itself."
        ) from None
    except NotOpened as error:
        raise UsageError(f"{path} {error}; give the folder or the archive that the platform exported.") from None


def _members(file: IO[bytes], unpacker: _Unpacker) -> Iterator[Member]:
    if zipfile.is_zipfile(file):
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            unpacker.wrappers = _wrappers(name_in_zip(member) for member in archive.infolist())
            yield from members_of_zip(archive)
        return
    file.seek(0)
    start = file.read(8)
    file.seek(0)
    opener = next((opener for mark, opener in _COMPRESSED if start.startswith(mark)), None)
    stream = opener(file) if opener is not None else file
    quota = unpacker.quota
    with tarfile.open(fileobj=_Bounded(stream, quota.bytes + (64 << 20), quota.shown), mode="r:") as tar:
        yield from members_of_tar(tar)


def _wrappers(names: Iterable[str]) -> int:
    """Return how many folders all names begin with."""
    common: list[str] | None = None
    for name in names:
        folders = [part for part in name.replace("\\", "/").split("/")[:-1] if part not in ("", ".")]
        if common is None:
            common = folders
        while common and folders[: len(common)] != common:
            common.pop()
    return len(common or ())


def _refusal(member: Member, parts: list[str]) -> str | None:
    if member.kind not in ("file", "folder"):
        return f"is {member.kind}; only plain files are taken"
    if member.leads_outside():
        return "would be written outside the class's folder"
    if len(parts) > _MOST_PARTS:
        return f"is deeper than {_MOST_PARTS} folders"
    return None


def _short(part: str) -> str:
    """Shorten a component that is too long for a file system; its start and its ending stay."""
    data = os.fsencode(part)
    if len(data) <= _MOST_COMPONENT:
        return part
    ending = "".join(c for c in Path(part).suffix if c.isascii())[:12]
    return f"{data[: _MOST_COMPONENT - 24].decode('utf-8', 'ignore')}~{sha256(data).hexdigest()[:8]}{ending}"


def _too_much(shown: str, what: str) -> UsageError:
    return UsageError(
        f"{shown} {what}: nothing was taken from it; give the folder of one class, or look into it first."
    )


class _Bounded(io.RawIOBase):
    """A stream that limits its total and each read: a tar's own tables can claim any length."""

    def __init__(self, stream: IO[bytes], bound: int, shown: str) -> None:
        super().__init__()
        self._stream, self._bound, self._shown = stream, bound, shown

    def read(self, size: int = -1) -> bytes:
        """Read as from any stream; a tar reader asks for as many bytes as a header claims."""
        if size < 0 or size > _MOST_HEADER:
            raise _too_much(self._shown, "has a header of a size that no export has")
        self._check(self._stream.tell() + size)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move forwards by reading; never beyond the bound."""
        if whence != 0:
            raise ValueError("a tar is read from its start")
        self._check(offset)
        return self._stream.seek(offset)

    def tell(self) -> int:
        """Return how many bytes have been unpacked."""
        return self._stream.tell()

    def _check(self, position: int) -> None:
        if position > self._bound:
            raise _too_much(self._shown, "unpacks to more than a class submits, or than there is room for on the disk")
