"""Archives are unpacked in the box; every trick costs only the member, or the archive, that tries it."""

import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from typing import Literal

import pytest

from tests.support.bare_worker import Worker

HONEST = {"solution.py": b"x = 1", "data/words.txt": b"a b", "empty.txt": b""}
LITTER = dict.fromkeys(("__MACOSX/._solution.py", "hw/.viva/g.yaml", "hw/.DS_Store", "hw/__pycache__/a.pyc"), b"?")
CHECKPOINT = {".ipynb_checkpoints/a-checkpoint.ipynb": b"{}"}


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return target.getvalue()


def tarred(files: dict[str, bytes], mode: Literal["w", "w:gz", "w:bz2", "w:xz"] = "w") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return target.getvalue()


def gzipped(files: dict[str, bytes]) -> bytes:
    return tarred(files, "w:gz")


def tar_with(kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> bytes:
    """A member of this kind, and a plain one."""
    target = io.BytesIO()
    member, plain = tarfile.TarInfo("special"), tarfile.TarInfo("plain.txt")
    member.type, member.linkname, member.mode, plain.size = kind, link, mode, 5
    with tarfile.open(fileobj=target, mode="w") as archive:
        archive.addfile(member)
        archive.addfile(plain, io.BytesIO(b"after"))
    return target.getvalue()


def zip_with_mode(mode: int, data: bytes = b"/etc/passwd") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        member = zipfile.ZipInfo("special")
        member.external_attr = mode << 16
        archive.writestr(member, data)
        archive.writestr("plain.txt", "after")
    return target.getvalue()


def unpacked(
    worker: Worker, data: bytes, name: str = "hw.zip", *, replace: bool = False
) -> tuple[dict[str, int], list[str]]:
    """Files with their sizes, and the notes."""
    worker.put(name, data)
    report = worker.ask("unpack", path=name, replace=replace)
    return dict(report["files"]), report["notes"]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("hw.zip", zipped),
        ("hw.zip", lambda files: zipped(files, zipfile.ZIP_STORED)),
        ("hw.zip", lambda files: zipped(files, zipfile.ZIP_LZMA)),
        ("hw.tar", tarred),
        ("hw.tar.gz", gzipped),
        ("hw.tgz", gzipped),
        ("hw.tar.bz2", lambda files: tarred(files, "w:bz2")),
        ("hw.tar.xz", lambda files: tarred(files, "w:xz")),
        ("wrongly named.zip", gzipped),
    ],
)
def test_honest_archives_are_unpacked(worker: Worker, name: str, make: Callable[[dict[str, bytes]], bytes]) -> None:
    files, notes = unpacked(worker, make({**HONEST, **LITTER, **CHECKPOINT}), name)
    assert files == {path: len(data) for path, data in HONEST.items()}
    left_out = ".DS_Store, .ipynb_checkpoints, __MACOSX, __pycache__"
    assert notes == [f"{name}: left out {left_out}, because it is not part of the work."]
    assert {path: (worker.work / path).read_bytes() for path in HONEST} == HONEST


def test_archives_are_unpacked_beside_themselves(worker: Worker) -> None:
    assert unpacked(worker, zipped({"a.py": b"x"}), "deep/hw.zip") == ({"deep/a.py": 1}, [])
    assert (worker.work / "deep" / "a.py").read_bytes() == b"x"


def test_names_of_other_systems(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped({"hw\\a.py": b"x", "./b.py": b"y", "ü/ö.py": b"z"}))
    assert files == {"hw/a.py": 1, "b.py": 1, "ü/ö.py": 1} and notes == []


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil", "C:\\evil", "..\\evil", "a/..", "", "."])
def test_escaping_names_are_left_out(worker: Worker, name: str) -> None:
    for data in (zipped({name: b"x", "plain.txt": b"y"}), tarred({name: b"x", "plain.txt": b"y"})):
        files, notes = unpacked(worker, data)
        assert files == {"plain.txt": 1}
        assert "outside the submission" in str(notes)
    assert not (worker.work.parent / "evil").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (tar_with(tarfile.SYMTYPE, "/etc/passwd"), "it is a link"),
        (tar_with(tarfile.LNKTYPE, "/etc/passwd"), "it is a link"),
        (tar_with(tarfile.CHRTYPE), "it is a device"),
        (tar_with(tarfile.BLKTYPE), "it is a device"),
        (tar_with(tarfile.FIFOTYPE), "it is a device"),
        (tar_with(mode=0o4755), "another user"),
        (zip_with_mode(stat.S_IFLNK | 0o777), "it is a link"),
        (zip_with_mode(stat.S_IFCHR | 0o666), "it is a device"),
        (zip_with_mode(stat.S_IFREG | stat.S_ISUID | 0o755), "another user"),
        (zip_with_mode(stat.S_IFREG | stat.S_ISGID | 0o755), "another user"),
    ],
)
def test_special_member_is_left_out(worker: Worker, data: bytes, words: str) -> None:
    files, notes = unpacked(worker, data, "hw.tar")
    assert (
        files == {"plain.txt": 5} and words in str(notes) and notes[0].startswith("hw.tar: left out 'special', because")
    )
    assert not (worker.work / "special").exists()


def test_existing_links_are_not_followed(worker: Worker) -> None:
    """Nothing makes links before archives are unpacked; if something did, they would lead nowhere."""
    outside = worker.work.parent / "outside.txt"
    outside.write_text("mine")
    (worker.work / "a.txt").symlink_to(outside)
    files, notes = unpacked(worker, zipped({"a.txt": b"theirs", "b.txt": b"x"}))
    assert files == {"b.txt": 1} and "cannot be written here" in str(notes) and outside.read_text() == "mine"


def test_file_in_place_of_folder(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped({"a": b"x", "a/b": b"y", "c": b"z"}))
    assert files == {"a": 1, "c": 1} and "'a/b'" in str(notes)


def test_archive_does_not_replace_itself(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped({"hw.zip": b"x", "c": b"z"}))
    assert files == {"c": 1} and "named like the archive" in str(notes)


def test_archive_with_its_own_name_inside(worker: Worker) -> None:
    assert unpacked(worker, zipped({"hw.zip": b"x", "c": b"z"}), replace=True) == ({"hw.zip": 1, "c": 1}, [])


BOMB = b"x" * (65 << 20)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("hw.zip", lambda: zipped({"small": b"x", "bomb": BOMB, "after": b"y"})),
        ("hw.tar.gz", lambda: tarred({"small": b"x", "bomb": BOMB, "after": b"y"}, "w:gz")),
    ],
)
def test_bombs_are_not_unpacked(worker: Worker, name: str, make: Callable[[], bytes]) -> None:
    files, notes = unpacked(worker, make(), name)
    assert files == {"small": 1, "after": 1}
    assert notes == [f"{name}: left out 'bomb', because all files together may have 64 MiB."]
    assert not (worker.work / "bomb").exists()


@pytest.mark.parametrize("make", [zipped, gzipped])
def test_large_files_leave_room_for_code(worker: Worker, make: Callable[[dict[str, bytes]], bytes]) -> None:
    data = make({"model.pt": bytes(64 << 20), "hw/solution.py": b"x = 1", "hw/answers.yaml": b"1: 2"})
    files, notes = unpacked(worker, data)
    assert files == {"hw/solution.py": 5, "hw/answers.yaml": 4} and "left out 'model.pt'" in notes[0]


@pytest.mark.parametrize("make", [zipped, gzipped])
@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_environments_are_left_out(worker: Worker, mark: str, make: Callable[[dict[str, bytes]], bytes]) -> None:
    environment = {f"hw/my env/lib/{n}.py": b"" for n in range(2500)} | {f"hw/my env/{mark}": b""}
    files, notes = unpacked(worker, make({**environment, "hw/lab.ipynb": b"{}", "env/mine.py": b"x"}))
    assert files == {"hw/lab.ipynb": 2, "env/mine.py": 1}
    assert notes == ["hw.zip: left out hw/my env, because it is not part of the work."]


def test_endings_of_code(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped({"hw/Lab.IPYNB.json": b"{}", "a.PY": b"x", "b.py.txt": b"y", "b.py": b"z"}))
    assert files == {"hw/Lab.ipynb": 2, "a.py": 1, "b.py.txt": 1, "b.py": 1}
    assert notes == [
        "hw.zip: a.PY was read as a.py.",
        "hw.zip: b.py.txt was not read, because b.py is there as well.",
        "hw.zip: hw/Lab.IPYNB.json was read as hw/Lab.ipynb.",
    ]


def test_too_many_files(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped({f"{i}": b"" for i in range(2500)}))
    assert len(files) == 2000 and "only 2,000 files are unpacked" in str(notes)


def test_sizes_that_lie(worker: Worker) -> None:
    """The header says 1 byte, the stream holds 60 MiB."""
    data = zipped({"bomb": BOMB})
    lying = data.replace(struct.pack("<I", len(BOMB)), struct.pack("<I", 1))
    assert lying != data
    files, notes = unpacked(worker, lying)
    assert files == {} or files == {"bomb": 1}
    assert notes or (worker.work / "bomb").stat().st_size <= 1


def test_encrypted_members(worker: Worker) -> None:
    data = bytearray(zipped({"secret": b"x"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    files, notes = unpacked(worker, bytes(data))
    assert files == {} and "it is encrypted" in str(notes)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"no archive at all", b"PK\x03\x04" + b"\0" * 100, zipped(HONEST)[:-30], tarred(HONEST, "w:gz")[:60],
        b"\x1f\x8b\x08" + b"x" * 50, tarred(HONEST)[:700], b"\xfd7zXZ\0" + b"x" * 60, b"BZh9" + b"x" * 60,
    ],
    ids=["nothing", "text", "zip_zeros", "cut_zip", "cut_tar_gz", "gz_of_x", "cut_tar", "xz_of_x", "bz2_of_x"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["hw.zip", "hw.tar.gz"])
def test_damaged_archive(worker: Worker, data: bytes, name: str) -> None:
    _, notes = unpacked(worker, data, name)
    assert f"{name} is damaged, or no archive that is known here (zip, tar, tar.gz, tar.bz2, tar.xz)." in notes
    assert worker.ask("names") == []


def test_damaged_member_is_left_out(worker: Worker) -> None:
    files, notes = unpacked(worker, zipped(HONEST, zipfile.ZIP_STORED).replace(b"x = 1", b"x = 2"))
    assert files == {"data/words.txt": 3, "empty.txt": 0}
    assert notes == ["hw.zip: left out 'solution.py', because it is damaged."]
