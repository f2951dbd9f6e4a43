"""A file is written whole or not at all, and a failure is one sentence that leaves the old file alone."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_replacing_keeps_permissions_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    write_atomically(link, b"new", durable=False)
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o640)


def test_rename_whose_answer_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS asks again and hears that there is no such file: it has the new name already."""
    path = tmp_path / "results.json"
    rename = Path.replace

    def renamed_twice(self: Path, target: Path) -> Path:
        rename(self, target)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", renamed_twice)
    write_atomically(path, b"one")
    assert (path.read_bytes(), names(tmp_path)) == (b"one", ["results.json"])
    monkeypatch.setattr(Path, "replace", lambda self, _: self.unlink() or rename(self, path))
    with pytest.raises(UsageError, match="No such file"):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"


def test_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    with pytest.raises(UsageError, match=r"results.json cannot be written: it is a folder"):
        write_atomically(tmp_path / "results.json", b"x")
    assert names(tmp_path) == ["results.json"]


def test_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(UsageError, match=r"out/results\.json .* is a file"):
        write_atomically(tmp_path / "out" / "results.json", b"x")
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_bytes() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"old")
    real_write = os.write
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(full, data))
    try:
        with pytest.raises(UsageError, match="the disk is full; what was there before is unchanged"):
            write_atomically(path, b"new")
    finally:
        monkeypatch.undo()
        os.close(full)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["results.json"]


def test_file_size_limit_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"old")
    code = f"""
import resource, signal, sys
from pathlib import Path
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(Path({str(path)!r}), b"x" * 5000)
except UsageError as error:
    sys.exit(0 if "cannot be written: File too large" in str(error) else 1)
sys.exit(2)
"""
    resource = pytest.importorskip("resource")  # not on Windows
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["results.json"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EACCES, "no permission; say another place with -o"),
        (errno.EROFS, "the file system is read-only; say another place with -o"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_each_failure_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str) -> None:
    def refuse(*_arguments: object, **_options: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)  # permissions do not stop root, as whom tests often run
    with pytest.raises(UsageError) as caught:
        write_atomically(tmp_path / "results.json", b"x")
    monkeypatch.undo()
    assert str(caught.value).startswith(f"{tmp_path / 'results.json'} cannot be written: {words}")
    assert names(tmp_path) == []


def test_whole_file_remains_when_killed(tmp_path: Path) -> None:
    """Two states are written in turn as fast as can be; whenever the writer is killed, one of them is there."""
    path = tmp_path / "results.json"
    states = [b"a" * 300_000, b"b" * 200_000]
    write_atomically(path, states[0])
    code = f"""
from pathlib import Path
from viva.formats.atomic_write import write_atomically
while True:
    write_atomically(Path({str(path)!r}), b"b" * 200_000, durable=False)
    write_atomically(Path({str(path)!r}), b"a" * 300_000, durable=False)
"""
    for delay_s in (0.15, 0.21, 0.26):
        writer = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(delay_s)
        for _ in range(50):
            assert path.read_bytes() in states
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert path.read_bytes() in states
