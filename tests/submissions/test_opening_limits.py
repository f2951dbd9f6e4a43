"""Every limit of a submission, and every file that cannot be graded, is a sentence."""

import errno
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from viva.model import Submission
from viva.model.errors import UsageError
from viva.submissions import open_submission
from viva.submissions.notebook_count import with_notebooks_counted

ONE = frozenset({"hw.ipynb", "*.ipynb"})
CODE = b"def f():\n    return 1\n"


def opened(path: Path, max_mib: int = 64) -> Submission:
    return open_submission(path, str(path), max_mib=max_mib)


def paths(submission: Submission) -> list[str]:
    return [f.path for f in submission.files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good submission, to which bad things are added."""
    alice = tmp_path / "class" / "alice"
    alice.mkdir(parents=True)
    (alice / "solution.py").write_bytes(CODE)
    return alice


def test_nothing_there(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"alise: no such file or folder; did you mean .*/class/alice\?"):
        opened(folder.parent / "alise")
    with pytest.raises(UsageError, match=r"no such file or folder \(.*/nowhere does not exist either\)"):
        opened(folder / "nowhere" / "x.py")
    with pytest.raises(UsageError, match="no such file or folder"):
        opened(folder / "solution.py" / "x.py")


def test_sparse_file_of_500_mib(folder: Path) -> None:
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(500 << 20)
    tracemalloc.start()
    try:
        submission = opened(folder)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert submission.files == ()
    assert submission.problem == (
        "The submission is larger than 64 MiB (weights.bin alone is 500 MiB): "
        "submit code and answers, without data sets, trained models and environments."
    )


def test_limit_of_all_files(folder: Path) -> None:
    for index in range(3):
        (folder / f"{index}.bin").write_bytes(bytes(400 << 10))
    submission = opened(folder, max_mib=1)
    assert submission.files == () and "larger than 1 MiB (2.bin alone is 409,600 bytes)" in submission.problem


def test_file_that_lies_about_its_size() -> None:
    """/proc says 0 bytes for everything; what counts is what was read."""
    smaps = Path(f"/proc/{os.getpid()}/smaps")
    if not smaps.exists():
        pytest.skip("needs /proc")
    submission = open_submission(smaps, "x", max_mib=0)
    assert submission.files == () and "larger than 0 MiB" in submission.problem


def test_ten_thousand_files(folder: Path) -> None:
    for index in range(10_000):
        (folder / f"{index}.txt").touch()
    started = time.monotonic()
    submission = opened(folder)
    assert time.monotonic() - started < 60
    assert submission.problem.startswith("The submission holds more than 2,000 files: submit code and answers")


def test_ten_thousand_empty_folders(folder: Path) -> None:
    for index in range(10_000):
        (folder / f"d{index}").mkdir()
    submission = opened(folder)
    assert submission.files == () and "more than 2,000 files" in submission.problem


def test_folders_within_folders(folder: Path) -> None:
    folder.joinpath(*["d"] * 60).mkdir(parents=True)
    submission = opened(folder)
    assert submission.files == () and "deeper than 24 levels" in submission.problem


def test_descriptors_are_closed(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(20):
        opened(folder)
        opened(folder / "link")
        with pytest.raises(UsageError):
            opened(folder / "solution.py" / "x")
    assert len(list(Path("/dev/fd").iterdir())) == before


def make(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(root: Path) -> Path:
        (root / name).write_bytes(data)
        return root / name

    return write


def several(count: int) -> Callable[[Path], Path]:
    def write(root: Path) -> Path:
        inner = root / "work"
        inner.mkdir(parents=True)
        for index in range(count):
            (inner / f"n{index:02}.ipynb").write_bytes(b"{}")
        return inner

    return write


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (lambda root: root, "is an empty folder: submit your notebook or your Python file."),
        (make("hw.ipynb", b""), "hw.ipynb is empty (0 bytes): save your work, and submit again."),
        (make("report.pdf", b"%PDF-1.7 ..."), "report.pdf cannot be graded (it is a PDF): submit a notebook (.ipynb)"),
        (make("notes.txt", b"hello"), "notes.txt cannot be graded: submit a notebook (.ipynb), a Python file (.py)"),
        (make("hw.ipynb", b"PK\x03\x04zip"), "hw.ipynb is a zip archive, not text, whatever its name says"),
        (make("hw.ipynb", b"  <!DOCTYPE html>"), "hw.ipynb is a web page that shows your work"),
        (make("solution.py", bytes(range(256))), "solution.py is binary data, not text"),
        (make("solution.py", b"\x7fELF\x02"), "solution.py is a program, not text"),
    ],
)
def test_what_cannot_be_graded(tmp_path: Path, prepare: Callable[[Path], Path], sentence: str) -> None:
    submission = opened(prepare(tmp_path))
    assert sentence in submission.problem
    assert "\n" not in submission.problem
    assert submission.files == ()
    assert len(submission.content_hash) == 64


@pytest.mark.parametrize("name", ["hw.zip", "hw.tar.gz", "HW.ZIP", "hw.tgz", "answers.yaml", "a.py", "a.ipynb"])
def test_archives_are_left_to_the_sandbox(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 whatever" if "z" in name.lower() else b"x")
    assert opened(tmp_path / name).problem == ""


def test_text_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "hw.ipynb").write_bytes("{}".encode("utf-16"))
    assert opened(tmp_path / "hw.ipynb").problem == ""


def test_few_notebooks(tmp_path: Path) -> None:
    two = opened(several(2)(tmp_path))
    submission = with_notebooks_counted(two, ONE)
    assert submission.problem == ""
    assert submission.notes[0].startswith("2 notebooks were found (n00.ipynb, n01.ipynb), and all of them are used")
    assert with_notebooks_counted(two, frozenset({"a.ipynb", "b.ipynb"})).notes == ()
    assert with_notebooks_counted(two, frozenset({"n01.ipynb"})).notes == ()


def test_many_notebooks(tmp_path: Path) -> None:
    submission = opened(several(20)(tmp_path))
    for names in (frozenset[str](), ONE, frozenset(f"m{n}.ipynb" for n in range(19))):
        problem = with_notebooks_counted(submission, names).problem
        assert problem.startswith("20 notebooks were found (n00.ipynb, n01.ipynb, n02.ipynb and 17 more), and it ")
    assert with_notebooks_counted(submission, frozenset(f"m{n}.ipynb" for n in range(20))) == submission
    assert with_notebooks_counted(submission, frozenset({"n07.ipynb"})) == submission
    assert not with_notebooks_counted(opened(several(4)(tmp_path / "four")), ONE).problem


def test_empty_file_among_others(folder: Path) -> None:
    (folder / "hw.ipynb").touch()
    (folder / "__init__.py").touch()
    submission = opened(folder)
    assert submission.notes == ("hw.ipynb is empty (0 bytes).",) and submission.problem == ""


def test_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if path == "solution.py":
            raise PermissionError(errno.EACCES, "Permission denied")  # permissions do not stop root
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    for path in (folder, folder / "solution.py"):
        submission = opened(path)
        assert submission.files == () and "solution.py cannot be read (Permission denied)" in submission.problem
