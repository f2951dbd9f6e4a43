"""Archives: whatever is in one, only plain files next to it come out, no more than fits, and it ends in words."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import sys
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.target import Target, expect, expect_sentence, fixtures
from viva.sandbox.guest.loading import archives, sources
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.sandbox.guest.transport.message_types import Unpack

NAMES = ("hw.zip", "hw.tar", "hw.tar.gz", "deep/er/hw.gz", "hw.bz2", "hw.xz")
Members = Iterable[tuple[str, bytes]]
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class _Watch:
    """Sees every file that is opened for writing and every folder that is made, wherever it lies."""

    allowed = ""
    outside: list[str]

    @classmethod
    def see(cls, event: str, arguments: Any) -> None:
        if not cls.allowed:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES:
                cls.note(path)
        elif event in ("os.mkdir", "os.chmod", "os.remove", "os.rename", "os.symlink", "os.link", "os.truncate"):
            cls.note(arguments[0])

    @classmethod
    def note(cls, path: Any) -> None:
        if isinstance(path, int):  # a descriptor, which was seen when it was opened
            return
        where = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  # what is asked for, before any link is followed
        if not f"{where}{os.sep}".startswith(cls.allowed):
            cls.outside.append(where)


sys.addaudithook(_Watch.see)


def check(data: bytes) -> None:
    """The first byte chooses the archive's name."""
    name = NAMES[data[0] % len(NAMES) if data else 0]
    room = Path(tempfile.mkdtemp(prefix="fuzz", dir=_fast()))
    work = room / "work"
    path = work / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data[1:])
    before = sources.folder()
    sources.work_in(str(work))
    _Watch.outside, _Watch.allowed = [], f"{path.parent}{os.sep}"
    try:
        reply = archives.unpack(Unpack(name))
    finally:
        _Watch.allowed = ""
        sources.work_in(before)
        try:
            _check_folder(room, work, path)
        finally:
            shutil.rmtree(room)
    expect(not _Watch.outside, f"written outside: {_Watch.outside[:3]}")
    _check_reply(reply, data)


def _fast() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _check_folder(room: Path, work: Path, archive: Path) -> None:
    expect([path.name for path in room.iterdir()] == ["work"], "something lies beside the submission")
    total = 0
    for path in work.rglob("*"):
        status = path.lstat()
        expect(stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode), f"{path.name} is no plain file")
        expect(not status.st_mode & (stat.S_ISUID | stat.S_ISGID), f"{path.name} runs as another user")
        if path != archive and stat.S_ISREG(status.st_mode):
            total += status.st_size
    expect(total <= archives.MOST_BYTES, f"{total:,} bytes came out")


def _check_reply(reply: dict[str, Any], data: bytes) -> None:
    files, notes = reply["files"], reply["notes"]
    expect(len(files) <= archives.MOST_FILES, "more files than are unpacked")
    for name, size in files:
        expect(type(name) is str and type(size) is int and size >= 0, "no file and its size")
        parts = name.split("/")
        expect(not name.startswith("/") and ".." not in parts and "\0" not in name, f"{name!r} leads elsewhere")
    for note in notes:
        expect_sentence(note, most=2000)
    if not notes and not files and len(data) > 1:
        try:
            with zipfile.ZipFile(io.BytesIO(data[1:])) as archive:
                plain = [m for m in archive.infolist() if not {"/", "\\"} & {*m.filename}]
        except Exception:  # whatever zipfile does not like
            return
        plain = [m for m in plain if not is_not_the_work(m.filename)]
        left = [m for m in plain if m.file_size and not stat.S_ISDIR(m.external_attr >> 16)]
        expect(not left, f"{left[:1]} was left out in silence")


def zipped(files: Members, method: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> bytes:
    """A zip archive; `mode` is that of every member."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, data in files:
            member = zipfile.ZipInfo(name)
            member.external_attr, member.compress_type = mode << 16, method
            archive.writestr(member, data)
    return target.getvalue()


def tarred(files: Members, form: int = tarfile.PAX_FORMAT, kind: bytes = tarfile.REGTYPE, **more: Any) -> bytes:
    """A tar archive of members of one kind; `more` are further fields of each."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.type, member.size = kind, len(data) if kind == tarfile.REGTYPE else 0
            for field, value in more.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(data))
    return target.getvalue()


def seeds() -> Iterator[bytes]:
    """Honest archives, and one of each trick."""
    files = (("solution.py", b"x = 1"), ("data/words.txt", b"a b"), ("empty.txt", b""))
    odd = [(name, b"x") for name in (
        "../out", "/etc/out", "C:\\out", "a/../../out", "a\\..\\b", "ü\u202e", "hw.zip", "hw.tar", "a", "a", "a/b",
        "__MACOSX/._a", "n" * 120, "con.", "/", "", "a\0b",
    )]  # fmt: skip
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
        yield b"\1" + tarred(files, form)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield b"\0" + zipped(files, method)
    yield b"\0" + zipped(odd)
    yield b"\1" + tarred(odd, linkname="/etc/passwd")
    links = (tarfile.SYMTYPE, tarfile.LNKTYPE)
    for kind in (*links, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CONTTYPE):
        yield b"\1" + tarred([("a", b""), ("b" * 150, b"")], tarfile.GNU_FORMAT, kind, linkname="../" * 40)
    yield b"\1" + tarred([("a", b"x")], pax_headers={"path": "../b", "size": "1", "GNU.sparse.major": "1"})
    yield b"\1" + tarred([("a", b"x")], pax_headers={"GNU.sparse.map": "0,1", "GNU.sparse.size": "9", "mtime": "-1.5"})
    yield b"\1" + tarred([("a", b"x")], mode=0o6755)
    for mode in (stat.S_IFLNK | 0o777, stat.S_IFCHR, stat.S_IFREG | stat.S_ISUID | 0o755):
        yield b"\0" + zipped([("a", b"/etc/passwd")], mode=mode)
    yield b"\2" + gzip.compress(tarred(files), mtime=0)
    yield b"\3" + gzip.compress(b"x = 1", mtime=0)
    yield b"\4" + bz2.compress(tarred(files))
    yield b"\5" + lzma.compress(b"x = 1")
    yield from (b"\0" + data for data in fixtures("*.zip", "*.tar.gz") if len(data) < 8000)


WORDS = (
    b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"ustar\x0000", b"ustar  \0",
    b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"BZh9", b"././@LongLink", b"././@PaxHeader", "../", "/etc/", "C:\\",
    "GNU.sparse.map", "GNU.sparse.realsize", "GNU.sparse.name", "GNU.sparse.numblocks", "path=", "size=",
    "linkpath=", "hdrcharset=BINARY", b"\x80\0\0\0", b"\xff\xff\xff\xff", b"\x01\x00", "SCHILY.",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS, longest=12_000)
