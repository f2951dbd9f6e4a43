"""What is read of a folder or an archive: files inside it, in bounds, and no links."""

import io
import zipfile
from pathlib import Path

import pytest

from viva.adapters.importing import bundle
from viva.adapters.importing.bundle import below, files_of_zip, read_bundle
from viva.model.errors import UsageError


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def test_a_folder_without_links_and_caches(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = tmp_path / "it"
    for name in ("a.py", "tests/b.py", "__pycache__/a.pyc", ".ipynb_checkpoints/a.ipynb", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    assert read_bundle(root) == {"a.py": b"a.py", "tests/b.py": b"tests/b.py"}


def test_an_archive_without_links_and_caches(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tests/b.py", "b")
        archive.writestr("__MACOSX/tests/._b.py", "x")
        archive.writestr(link, "/etc/passwd")
    assert read_bundle(path) == {"tests/b.py": b"b"}


@pytest.mark.parametrize("name", ["../a.py", "/a.py", "a/../../b.py", "a\\..\\..\\b.py"])
def test_a_path_that_leads_out_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="points outside the archive"):
        files_of_zip(zipped(**{name: b""}), "a.zip")


NO_ARCHIVES = {
    "nothing": b"",
    "a beginning": b"PK\x03\x04",
    "a text": b"no zip",
    "no end": zipped(a=b"b" * 99)[:-30],
    "no start": zipped(a=b"b" * 99)[40:],
}


@pytest.mark.parametrize("data", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_what_is_no_archive_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^a\.zip is not a readable zip archive"):
        files_of_zip(data, "a.zip")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundle, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="holds more than"):
        files_of_zip(zipped(a=b"\0" * (1 << 20) + b"1"), "a.zip")
    (tmp_path / "a").write_bytes(b"\0" * (1 << 20) + b"1")
    with pytest.raises(UsageError, match="holds more than"):
        read_bundle(tmp_path)
    monkeypatch.setattr(bundle, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="holds more than"):
        files_of_zip(zipped(a=b"", b=b"", c=b""), "a.zip")


def test_an_archive_that_lies_about_a_size_gives_no_more_than_it_says() -> None:
    """The size in the directory is what was checked; what would be more is refused."""
    data = zipped(a=b"\0" * 5000)
    lying = data.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert lying != data
    with pytest.raises(UsageError):
        files_of_zip(lying, "a.zip")


def test_nothing_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing: no such file"):
        read_bundle(tmp_path / "nothing")


def test_files_below_a_folder() -> None:
    files = {"a/b": b"1", "ab": b"2", "a/c/d": b"3"}
    assert below(files, "a") == {"b": b"1", "c/d": b"3"}
    assert below(files, "") == files
