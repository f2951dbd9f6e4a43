"""Unpack archives where they can do no harm: in the box, next to the archive, plain files only.

Nothing in an archive is trusted: names may lead elsewhere, sizes may lie, members may be links. An archive is read by
the rules for a folder. What is not unpacked costs only itself and is named; code and answers come first, so that
no large file takes their room. The archive of a whole class, which is unpacked outside, is read with the same members.
"""

from __future__ import annotations

import collections
import functools
import io
import itertools
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Callable,
    DefaultDict,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Tuple,
)

from . import sources, storable_names
from .student_files import find_environments, is_not_the_work, name_as_code, rename_code, shorten_list

if TYPE_CHECKING:
    from ..transport.message_types import Unpack

MOST_FILES = 2000
MOST_BYTES = 64 << 20
"""The size of all unpacked files together, as for a folder."""
MOST_MEMBERS = 200_000
MOST_READ = 1 << 30
"""How far a tar is read, in unpacked bytes."""
_SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FIRST = (".py", ".ipynb", ".yaml", ".yml")
_COPY = 1 << 16
_MOST_NAME = 200
SPARSE = "a sparse file"
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError,
           RuntimeError, NotImplementedError, KeyError, IndexError, OverflowError, MemoryError)  # fmt: skip
"""What reading a damaged archive raises."""
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "a link"}


class Refused(Exception):
    """A member is not unpacked; `str()` says why, and follows the member's name in a message."""


class Member(NamedTuple):
    """One entry of an archive."""

    name: str
    kind: str
    """"file", "folder", or what it is instead."""
    mode: int
    size: int
    """As the archive claims."""
    open: Callable[[], Any]
    """Opens the bytes as a file."""

    def parts(self) -> Tuple[str, ...]:
        """Return the folders of the name, and the name itself."""
        return tuple(part for part in self.name.replace("\\", "/").split("/") if part not in ("", "."))

    def leads_outside(self) -> bool:
        """Return whether it would be written outside the folder into which the archive is unpacked."""
        name, parts = self.name.replace("\\", "/"), self.parts()
        return name.startswith("/") or name[1:2] == ":" or "\0" in name or ".." in parts or not parts


def unpack(request: Unpack) -> Dict[str, object]:
    """Unpack the archive `path` into its own folder; with `replace`, its contents take its place.

    Returns:
        `{"files": [[path, size]], "notes": [str]}`: what was unpacked, and sentences for the student about the rest.
    """
    path = request.path
    with open(sources.path_of(path), "rb") as file:
        data = io.BytesIO(file.read())
    if request.replace:
        os.unlink(sources.path_of(path))  # a box has no room for a large archive and its contents
    unpacking = _Unpacking(path)
    unpacking.unpack(_members(data))
    return {"files": list(unpacking.files.items()), "notes": unpacking.notes()}


class _Unpacking:
    """The state of one unpacking."""

    def __init__(self, path: str) -> None:
        self._archive, self._folder = path, os.path.dirname(path)
        self._bytes_left = MOST_BYTES
        self._left_out: DefaultDict[str, List[str]] = collections.defaultdict(list)
        """Names of members, by the reason."""
        self._sentences: List[str] = []
        self.files: Dict[str, int] = {}

    def notes(self) -> List[str]:
        left_out = [
            f"{self._archive}: left out {shorten_list(names)}, because {why}." for why, names in self._left_out.items()
        ]
        return left_out + self._sentences

    def unpack(self, members: Iterator[Member]) -> None:
        """Unpack the files that are part of the work, those of code first."""
        work = self._work(self._readable(members))
        names = {"/".join(member.parts()) for member in work}
        renamed, sentences = rename_code(names.union(self._names_there()))
        self._sentences += [f"{self._archive}: {sentence}" for sentence in sentences]
        for member in sorted(work, key=lambda member: not name_as_code(member.name).lower().endswith(_FIRST)):
            name = "/".join(member.parts())
            try:
                self._unpack_one(member, renamed.get(name, name))
            except Refused as error:
                self._left_out[str(error)].append(repr(member.name[:_MOST_NAME]))

    def _readable(self, members: Iterator[Member]) -> Iterator[Member]:
        """Return the members up to the first damage; a note says what ended them."""
        try:
            yield from itertools.islice(members, MOST_MEMBERS)
            if next(members, None) is not None:
                self._sentences.append(f"{self._archive}: only its first {MOST_MEMBERS:,} entries were read.")
        except Refused as error:
            self._sentences.append(f"{self._archive}: only its beginning was read, because {error}.")
        except DAMAGED:
            known = "zip, tar, tar.gz, tar.bz2, tar.xz"
            self._sentences.append(f"{self._archive} is damaged, or no archive that is known here ({known}).")

    def _names_there(self) -> List[str]:
        """Return the names next to the archive, which no renamed file may take."""
        return [name for name in os.listdir(sources.path_of(self._folder)) if name == name_as_code(name)]

    def _work(self, members: Iterable[Member]) -> List[Member]:
        """Return the members without what tools left behind."""
        found = []
        tools = set()
        for member in members:
            parts = member.parts()
            litter = next((part for part in parts if is_not_the_work(part)), None)
            if litter is not None:
                tools.add(litter)
            elif member.kind != "folder":
                found.append(member)
        folders = find_environments(member.parts() for member in found)
        tools |= {"/".join(folder) for folder in folders}
        if tools - {".viva"}:
            self._left_out["it is not part of the work"] = sorted(tools - {".viva"})
        depths = {len(folder) for folder in folders}
        return [m for m in found if not any(m.parts()[:depth] in folders for depth in depths)]

    def _unpack_one(self, member: Member, name: str) -> None:
        if len(self.files) >= MOST_FILES:
            raise Refused(f"only {MOST_FILES:,} files are unpacked")
        target = self._target(member, name)
        path = target.replace(os.sep, "/")
        known = self.files.pop(path, None)
        size = self._write(member, target)
        if known is not None:  # programs that show an archive differ in which one they show
            self._sentences.append(f"{path[:_MOST_NAME]!r} is in {self._archive} more than once; the last one counts.")
        self.files[path] = size

    def _target(self, member: Member, path: str) -> str:
        if member.leads_outside():
            raise Refused("it would be written outside the submission")
        if member.kind not in ("file", SPARSE):
            raise Refused(f"it is {member.kind}; only plain files are unpacked")
        if member.mode & (stat.S_ISUID | stat.S_ISGID):
            raise Refused("it is marked to run as another user")
        why = storable_names.refusal_reason(path)
        if why:
            raise Refused(why)
        target = os.path.join(self._folder, *path.split("/"))
        if target == os.path.normpath(self._archive) and os.path.exists(sources.path_of(target)):
            raise Refused("it is named like the archive itself")
        return target

    def _write(self, member: Member, target: str) -> int:
        """Copy the member to `target`, and return the number of bytes that really came out.

        Raises:
            Refused: it cannot be written, it does not fit, or its bytes are damaged; nothing of it stays.
        """
        if member.size > self._bytes_left:
            raise Refused(_TOO_LARGE)
        target = sources.path_of(target)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not hasattr(os, "O_NOFOLLOW") and os.path.islink(target):  # on other systems os.open refuses it
                raise Refused("it cannot be written here (a link is in the way)")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _SAFE_FLAGS
            descriptor = os.open(target, flags, 0o644)
        except OSError as error:
            raise Refused(f"it cannot be written here ({error.strerror})") from error
        try:
            with os.fdopen(descriptor, "wb") as file:
                size = self._copy(member, file)
        except OSError as error:
            reason = Refused(f"it cannot be written here ({error.strerror})")
        except Refused as error:
            reason = error
        else:
            self._bytes_left -= size
            return size
        os.unlink(target)
        raise reason

    def _copy(self, member: Member, file: BinaryIO) -> int:
        size = 0
        for part in _parts(member):
            size += len(part)
            if size > self._bytes_left:
                raise Refused(_TOO_LARGE)
            file.write(part)
        return size


_TOO_LARGE = f"all files together may have {MOST_BYTES >> 20} MiB"


def _parts(member: Member) -> Iterator[bytes]:
    """Read the member in parts. Raises Refused if it is damaged."""
    try:
        with member.open() as source:
            yield from iter(lambda: source.read(_COPY), b"")
    except DAMAGED:
        raise Refused("it is damaged") from None


def _members(data: BinaryIO) -> Iterator[Member]:
    if zipfile.is_zipfile(data):
        yield from members_of_zip(zipfile.ZipFile(data))
        return
    data.seek(0)
    archive = tarfile.open(fileobj=data)
    for member in members_of_tar(archive):
        yield member
        if archive.offset > MOST_READ:
            raise Refused(f"it unpacks to more than {MOST_READ >> 20:,} MiB")


def members_of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    """Yield the members of a zip archive."""
    for member in archive.infolist():
        mode = member.external_attr >> 16
        kind = _KINDS.get(stat.S_IFMT(mode) or stat.S_IFREG, "a device")
        if member.filename.endswith("/"):
            kind = "folder"
        if member.flag_bits & 1:
            kind = "encrypted"
        yield Member(name_in_zip(member), kind, mode, member.file_size, functools.partial(archive.open, member))


def members_of_tar(archive: tarfile.TarFile) -> Iterator[Member]:
    """Yield the members of a tar archive."""
    for member in archive:
        kind = _kind_in_tar(member)
        yield Member(member.name, kind, member.mode, member.size, functools.partial(archive.extractfile, member))
        archive.members = []  # type: ignore[attr-defined]  # else it keeps every header it has read


def name_in_zip(member: zipfile.ZipInfo) -> str:
    """Return the member's name; some programs write UTF-8 without the flag for it."""
    if member.flag_bits & 0x800 or member.filename.isascii():
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _kind_in_tar(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "a link"
    if member.isdir():
        return "folder"
    if not member.isreg():
        return "a device"
    return SPARSE if member.issparse() else "file"
