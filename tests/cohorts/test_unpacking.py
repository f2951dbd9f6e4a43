"""The archive of a class can do no harm: names that lead elsewhere, links, devices, bombs, damage."""

import gzip
import io
import os
import resource
import signal
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.class_exports import names, tarred, zipped
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.unpacking import Caps, unpack
from viva.submissions import open_submission

ELSEWHERE = [
    *("../up.py", "/abs.py", "a/../../up.py", "..\\up.py", "C:\\up.py", "C:up.py", "\\\\host\\up.py"),
    *("/", "a/.."),
]
Pack = Callable[[Path, Mapping[str, bytes]], Path]


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "private" / "export"
    folder.mkdir(parents=True, mode=0o700)
    return folder


def everything(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.name != "x.archive"}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_that_lead_elsewhere(tmp_path: Path, into: Path, pack: Pack) -> None:
    archive = pack(tmp_path / "x.archive", dict.fromkeys(ELSEWHERE, b"x") | {"ada/ok.py": b"ok"})
    refused = unpack(archive, into)
    assert everything(tmp_path) == {"private", "private/export", "private/export/ada", "private/export/ada/ok.py"}
    assert len(refused) == len(ELSEWHERE)
    assert {u.reason for u in refused} == {"would be written outside the class's folder"}


def test_links_and_devices(tmp_path: Path, into: Path) -> None:
    with tarfile.open(tmp_path / "x.archive", "w:gz") as tar:
        kinds = {"sym": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "fifo": tarfile.FIFOTYPE, "chr": tarfile.CHRTYPE}
        for name, kind in kinds.items():
            member = tarfile.TarInfo(f"eve/{name}")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
        through = tarfile.TarInfo("eve/sym/x.py")
        through.size = 1
        tar.addfile(through, io.BytesIO(b"x"))
    refused = {u.name: u.reason for u in unpack(tmp_path / "x.archive", into)}
    assert set(refused) == {"eve/sym", "eve/hard", "eve/fifo", "eve/chr"}
    assert refused["eve/sym"] == refused["eve/hard"] == "is a link; only plain files are taken"
    assert names(into) == ["eve/sym/x.py"]
    assert not any(p.is_symlink() for p in into.rglob("*"))


def test_link_in_a_zip(tmp_path: Path, into: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.archive", "w") as archive:
        link = zipfile.ZipInfo("eve")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc")
        archive.writestr("eve/passwd", "mine")
    assert [u.name for u in unpack(tmp_path / "x.archive", into)] == ["eve"]
    assert (into / "eve" / "passwd").read_text() == "mine"


def test_file_where_a_folder_is_needed(tmp_path: Path, into: Path) -> None:
    with tarfile.open(tmp_path / "x.archive", "w") as archive:
        for name, text in (("a", b"1"), ("a/b", b"2"), ("c", b"3"), ("c", b"4")):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(text))
    refused = {u.name: u.reason for u in unpack(tmp_path / "x.archive", into)}
    assert set(refused) == {"a/b", "c"} and "twice" in refused["c"]
    assert {name: (into / name).read_text() for name in names(into)} == {"a": "1", "c": "3"}


def test_unpacked_files_are_private(tmp_path: Path, into: Path) -> None:
    with tarfile.open(tmp_path / "x.archive", "w") as tar:
        member = tarfile.TarInfo("ada/x.py")
        member.size, member.mode, member.uid = 1, 0o6777, 0
        tar.addfile(member, io.BytesIO(b"x"))
    unpack(tmp_path / "x.archive", into)
    assert stat.S_IMODE((into / "ada/x.py").stat().st_mode) == 0o600
    assert stat.S_IMODE((into / "ada").stat().st_mode) == 0o700


def test_names_without_the_utf_8_flag(tmp_path: Path, into: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.archive", "w") as archive:
        archive.writestr("נועה/x.py", "x")
    data = bytearray((tmp_path / "x.archive").read_bytes())
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = data.index(mark) + (6 if mark == b"PK\x03\x04" else 8)
        data[at + 1] &= ~0x08  # the flag that says UTF-8
    (tmp_path / "x.archive").write_bytes(data)
    unpack(tmp_path / "x.archive", into)
    assert names(into) == ["נועה/x.py"]


def test_long_name_keeps_start_and_ending(tmp_path: Path, into: Path) -> None:
    long = "lovelaceada_1_2_" + "很" * 100 + ".ipynb"
    unpack(zipped(tmp_path / "x.archive", {long: b"x", long.replace(".ipynb", "很.ipynb"): b"y"}), into)
    assert len(names(into)) == 2
    assert all(n.startswith("lovelaceada_1_2_很") and n.endswith(".ipynb") for n in names(into))


def test_leftovers_of_tools(tmp_path: Path, into: Path) -> None:
    files = {"__MACOSX/ada/._x.py": b"", "ada/.venv/x.py": b"", "ada/.DS_Store": b"", "ada/x.py": b""}
    assert unpack(zipped(tmp_path / "x.archive", files), into) == []
    assert names(into) == ["ada/x.py"]


def test_clone_without_its_contents(tmp_path: Path, into: Path) -> None:
    unpack(zipped(tmp_path / "x.archive", {"ada/.git/hooks/post-checkout": b"#!/bin/sh\n", "ada/x.py": b""}), into)
    assert names(into) == ["ada/x.py"] and list((into / "ada" / ".git").iterdir()) == []


def test_archives_inside_stay_closed(tmp_path: Path, into: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"../../up.py": b"x"}).read_bytes()
    unpack(zipped(tmp_path / "x.archive", {"ada.zip": inner}), into)
    assert (into / "ada.zip").read_bytes() == inner


SMALL = Caps(files=5, mib=2)


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({f"{n}.py": b"" for n in range(6)}, "holds more than 5 files"),
        ({f"{n}/": b"" for n in range(11)}, "holds more than"),
        ({"zeros": bytes(3 << 20)}, "unpacks to more than a class submits"),
        ({f"{n}": os.urandom(700 << 10) for n in range(4)}, "unpacks to more than a class submits"),
    ],
)
def test_bombs_are_refused_within_the_limits(
    tmp_path: Path, into: Path, pack: Pack, files: dict[str, bytes], sentence: str
) -> None:
    archive = pack(tmp_path / "x.archive", files)
    with pytest.raises(UsageError, match=sentence):
        unpack(archive, into, SMALL)
    assert sum(p.stat().st_size for p in into.rglob("*") if p.is_file()) <= 2 << 20


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_large_file_of_one_student(tmp_path: Path, into: Path, pack: Pack) -> None:
    """It keeps its size, without its contents, so that its student reads why it is not graded."""
    files = {"hw/ada/x.py": b"x = 1", "hw/bob/zeros": bytes(3 << 20), "hw/cem/x.py": b"x = 2"}
    caps = Caps(mib=2, file_mib=1)
    assert unpack(pack(tmp_path / "x.archive", files), into, caps) == []
    assert {name: (into / name).stat().st_size for name in names(into)} == {n: len(data) for n, data in files.items()}
    assert (into / "hw/bob/zeros").stat().st_blocks * 512 <= 2 << 20
    problem = open_submission(into / "hw" / "bob", "bob", max_mib=2).problem
    assert "larger than 2 MiB (zeros alone is 3 MiB)" in problem
    assert [f.data for f in open_submission(into / "hw" / "cem", "cem").files] == [b"x = 2"]


@pytest.mark.parametrize("wrapper", ["", "export/", "export/hw1/"])
def test_many_files_of_one_student(tmp_path: Path, into: Path, wrapper: str) -> None:
    files = {f"{wrapper}bob/{n}/zeros": bytes(1 << 20) for n in range(6)} | {f"{wrapper}cem/x.py": b"x = 2"}
    assert unpack(zipped(tmp_path / "x.archive", files), into, Caps(mib=4, student_mib=2)) == []
    assert (into / wrapper / "cem" / "x.py").read_bytes() == b"x = 2"
    assert sum(path.stat().st_blocks * 512 for path in into.rglob("zeros")) <= 3 << 20
    assert sum(path.stat().st_size for path in into.rglob("zeros")) == 6 << 20


def test_size_that_lies(tmp_path: Path, into: Path) -> None:
    """The sizes that a zip claims are not believed: what comes out is counted, or is too short to be whole."""
    archive = zipped(tmp_path / "x.archive", {"zeros": bytes(8 << 20)})
    data = archive.read_bytes().replace((8 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    archive.write_bytes(data)
    with pytest.raises(UsageError):
        unpack(archive, into, SMALL)
    assert sum(p.stat().st_size for p in into.rglob("*")) <= 2 << 20


@pytest.mark.parametrize("claim", [1 << 30, 1 << 40])
def test_huge_header_takes_no_memory(tmp_path: Path, into: Path, claim: int) -> None:
    member = tarfile.TarInfo("pax")
    member.type, member.size = tarfile.XHDTYPE, claim
    header = member.tobuf(tarfile.GNU_FORMAT)
    with gzip.open(tmp_path / "x.archive", "wb") as file:
        file.write(header + bytes(64 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match="has a header of a size that no export has"):
            unpack(tmp_path / "x.archive", into)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_skipped_member_counts(tmp_path: Path, into: Path) -> None:
    """What a link claims to hold is skipped by reading: it may not be without end."""
    member = tarfile.TarInfo("device")
    member.type, member.size = b"9", 1 << 40
    with gzip.open(tmp_path / "x.archive", "wb") as file:
        file.write(member.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20))
    with pytest.raises(UsageError):
        unpack(tmp_path / "x.archive", into, SMALL)
    assert sum(p.stat().st_size for p in into.rglob("*")) <= 2 << 20


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"\x1f\x8bxx", b"BZh9", b"plain text " * 200, b"\xfd7zXZ\x00"], ids=repr
)
def test_no_archive(tmp_path: Path, into: Path, data: bytes) -> None:
    (tmp_path / "x.archive").write_bytes(data)
    with pytest.raises(UsageError, match=r"x\.archive is damaged"):
        unpack(tmp_path / "x.archive", into)
    assert not [path for path in into.rglob("*") if path.is_file()]


def test_archive_that_is_cut_off(tmp_path: Path, into: Path) -> None:
    archive = tarred(tmp_path / "x.archive", {f"{n}.py": os.urandom(10_000) for n in range(9)})
    archive.write_bytes(archive.read_bytes()[:-20_000])
    with pytest.raises(UsageError, match="is damaged"):
        unpack(archive, into)


def test_full_disk(tmp_path: Path, into: Path) -> None:
    """The limit of file sizes stands for the disk: writing fails in the same place."""
    archive = zipped(tmp_path / "x.archive", {"a.py": os.urandom(100_000)})
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(UsageError, match="no room on the disk"):
            unpack(archive, into)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_encrypted_file(tmp_path: Path, into: Path) -> None:
    archive = zipped(tmp_path / "x.archive", {"a.py": b"x"})
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    (left_out,) = unpack(archive, into)
    assert left_out.name == "a.py" and "is encrypted" in left_out.reason and not list(into.rglob("a.py"))


def test_link_to_an_archive(tmp_path: Path, into: Path) -> None:
    zipped(tmp_path / "real.zip", {"a.py": b""})
    (tmp_path / "x.archive").symlink_to("real.zip")
    with pytest.raises(UsageError, match="is a link"):
        unpack(tmp_path / "x.archive", into)
