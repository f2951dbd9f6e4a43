"""What is imported: files of a folder or archive, in bounds; and the course that is written whole or not at all."""

import io
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest

from bench.small_course import notebook
from tests.support.nbgrader_class import cell, source
from viva.config import load_course
from viva.model.errors import CourseError, UsageError
from viva.plugins.suites.importing import bundle
from viva.plugins.suites.importing.bundle import read_bundle, read_zip, select_below
from viva.plugins.suites.importing.new_course import ImportedAssignment, format_points, make_folder_name, write_course


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def test_folder_is_read_without_links_and_caches(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = tmp_path / "it"
    for name in ("a.py", "tests/b.py", "__pycache__/a.pyc", ".ipynb_checkpoints/a.ipynb", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    assert read_bundle(root) == {"a.py": b"a.py", "tests/b.py": b"tests/b.py"}


def test_archive_is_read_without_links_and_metadata(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tests/b.py", "b")
        archive.writestr("__MACOSX/tests/._b.py", "x")
        archive.writestr(link, "/etc/passwd")
    assert read_bundle(path) == {"tests/b.py": b"b"}


@pytest.mark.parametrize("name", ["../a.py", "/a.py", "a/../../b.py", "a\\..\\..\\b.py"])
def test_path_traversal(name: str) -> None:
    with pytest.raises(UsageError, match="points outside the archive"):
        read_zip(zipped(**{name: b""}), "a.zip")


NO_ARCHIVES = {
    "nothing": b"",
    "a beginning": b"PK\x03\x04",
    "a text": b"no zip",
    "no end": zipped(a=b"b" * 99)[:-30],
    "no start": zipped(a=b"b" * 99)[40:],
}


@pytest.mark.parametrize("data", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_no_archive(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^a\.zip is not a readable zip archive"):
        read_zip(data, "a.zip")


def test_zip_bomb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundle, "MAX_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="holds more than"):
        read_zip(zipped(a=b"\0" * (1 << 20) + b"1"), "a.zip")
    (tmp_path / "a").write_bytes(b"\0" * (1 << 20) + b"1")
    with pytest.raises(UsageError, match="holds more than"):
        read_bundle(tmp_path)
    monkeypatch.setattr(bundle, "MAX_FILES", 2)
    with pytest.raises(UsageError, match="holds more than"):
        read_zip(zipped(a=b"", b=b"", c=b""), "a.zip")


def test_archive_with_a_wrong_size() -> None:
    """The size in the directory is what was checked; what would be more is refused."""
    data = zipped(a=b"\0" * 5000)
    lying = data.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert lying != data
    with pytest.raises(UsageError):
        read_zip(lying, "a.zip")


def test_missing_bundle(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing: no such file"):
        read_bundle(tmp_path / "nothing")


def test_below_returns_paths_in_a_folder() -> None:
    files = {"a/b": b"1", "ab": b"2", "a/c/d": b"3"}
    assert select_below(files, "a") == {"b": b"1", "c/d": b"3"}
    assert select_below(files, "") == files


SETTINGS = {"title": "Old", "suite": "nbgrader", "submission": {"notebook": "a.ipynb", "module": None}}
SOURCE = notebook(source()).encode()


def imported(name: str = "old", text: bytes = SOURCE) -> ImportedAssignment:
    return ImportedAssignment(name, dict(SETTINGS), {"source/a.ipynb": text})


def test_new_course(tmp_path: Path) -> None:
    write_course(tmp_path / "one", "old courses: 1", [imported("a"), imported("b")])
    write_course(tmp_path / "two", "old", [imported()])
    course = load_course(tmp_path / "one")
    assert (course.title, course.assignments) == ("old courses: 1", ("a", "b"))
    assert course.assignment("a").suite == "nbgrader"
    secrets = {(tmp_path / name / ".secret").read_text() for name in ("one", "two")}
    assert len(secrets) == 2 and (tmp_path / "one" / ".secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["a folder with files", "a file", "a link"])
def test_nothing_is_overwritten(tmp_path: Path, what: str) -> None:
    to = tmp_path / "course"
    if what == "a folder with files":
        (to / "mine").mkdir(parents=True)
    elif what == "a file":
        to.write_text("mine")
    else:
        to.symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="is not empty"):
        write_course(to, "old", [imported()])
    assert sorted(tmp_path.rglob("*")) == before


def test_invalid_assignment(tmp_path: Path) -> None:
    to = tmp_path / "course"
    with pytest.raises(CourseError) as raised:
        write_course(to, "old", [imported(text=notebook([cell("code", "1")]).encode())])
    assert str(raised.value).startswith(f"Nothing was written: {to}/graders/old/source")
    assert list(tmp_path.iterdir()) == []


def test_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    write_course(tmp_path / "course", "old", [imported()])
    assert load_course(tmp_path / "course").assignments == ("old",)


@pytest.mark.parametrize("path", ["key.py", "source/x.csv", "inside/x.py", "tests/x.py", "otter_config.json"])
def test_reserved_paths(path: str) -> None:
    with pytest.raises(UsageError, match="Rename it"):
        imported().add_data({path: b""})


def test_names_and_points() -> None:
    names = ["ps1", "Week 1: sums", "../..", "", "größe"]
    assert [make_folder_name(n) for n in names] == ["ps1", "Week_1_sums", "assignment", "assignment", "gr_e"]
    assert [format_points(Fraction(p)) for p in ("3", "5/2", "1/3")] == [3, 2.5, "1/3"]
