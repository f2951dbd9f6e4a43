"""Submissions are read by descriptor: no link is followed, nothing special is opened."""

import os
import random
import shutil
import socket
import stat
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.model import File, Submission
from viva.model.errors import UsageError
from viva.submissions import open_submission
from viva.submissions.open_submission import digest

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


def test_file_and_folder(folder: Path) -> None:
    single = opened(folder / "solution.py")
    assert (single.name, paths(single)) == (str(folder / "solution.py"), ["solution.py"])
    assert single.problem == "" and single.notes == ()
    (folder / "inner").mkdir()
    (folder / "inner" / "helper.py").write_bytes(b"x = 1\n")
    whole = opened(folder)
    assert paths(whole) == ["inner/helper.py", "solution.py"]
    assert whole.files[1].data == CODE
    assert whole.problem == "" and whole.notes == ()


def test_relative_path_with_dots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert paths(opened(Path())) == paths(opened(Path("../alice/."))) == paths(opened(folder)) == ["solution.py"]


# --- links


def test_link_as_the_submission(folder: Path) -> None:
    link = folder.parent / "mallory"
    link.symlink_to(folder)
    submission = opened(link)
    assert submission.problem == "mallory is a link: submit a file or a folder that can be opened."
    assert submission.files == ()


def test_link_on_the_way(folder: Path) -> None:
    link = folder.parent.parent / "shortcut"
    link.symlink_to(folder.parent)
    with pytest.raises(UsageError, match=r"shortcut/alice: .*/shortcut is a link, and links are not followed"):
        opened(link / "alice")


def test_relative_link_on_the_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "deep").symlink_to("alice")
    monkeypatch.chdir(folder.parent.parent)
    with pytest.raises(UsageError, match="class/deep is a link"):
        opened(Path("class/deep/solution.py"))


TARGETS = ["/etc/passwd", "/etc", "../../..", "solution.py", "nowhere", "/dev/zero", "self"]


def test_links_inside(folder: Path) -> None:
    with Rows() as row:
        for place in ["leak", "inner/leak", "inner/deeper/leak.py"]:
            for n, target in enumerate(TARGETS):
                with row(place, target):
                    handed_in = folder.parent / f"{place.count('/')}-{n}"
                    shutil.copytree(folder, handed_in)
                    link = handed_in / place
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(link if target == "self" else target)
                    submission = opened(handed_in)
                    assert paths(submission) == ["solution.py"]
                    assert submission.notes == (f"Left out: {place} is a link; submit the file itself.",)
                    assert not any(b"root:" in f.data for f in submission.files)


def test_file_that_becomes_a_link_while_we_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The race between looking and opening: the kernel itself refuses the link."""
    victim = folder / "solution.py"
    real_stat = os.stat

    def stat_then_swap(path: Any, **options: Any) -> os.stat_result:
        result = real_stat(path, **options)
        if path == "solution.py" and stat.S_ISREG(result.st_mode):
            victim.unlink()
            victim.symlink_to("/etc/passwd")
        return result

    monkeypatch.setattr(os, "stat", stat_then_swap)
    submission = opened(folder)
    monkeypatch.undo()
    assert submission.files == ()
    assert "solution.py cannot be read" in submission.problem


# --- special files


def test_pipes_and_sockets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe2")
    monkeypatch.chdir(folder)  # a socket's path may not be long
    server = socket.socket(socket.AF_UNIX)
    server.bind("sock")
    submission = opened(folder)  # waits for ever if it opens one of them
    server.close()
    assert paths(submission) == ["solution.py"]
    assert submission.notes == (
        "Left out: pipe, pipe2 are named pipes; submit the file itself.",
        "Left out: sock is a socket; submit the file itself.",
    )


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root makes devices")
def test_devices_are_left_out(folder: Path) -> None:
    try:
        os.mknod(folder / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError as error:
        pytest.skip(f"this host lets nobody make devices: {error}")
    submission = opened(folder)
    assert paths(submission) == ["solution.py"]
    assert submission.notes == ("Left out: zero is a device; submit the file itself.",)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_device_as_the_submission(device: str) -> None:
    submission = opened(Path(device))
    assert submission.files == () and f"{Path(device).name} is a device" in submission.problem


def test_pipe_as_the_submission(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "solution.py")
    submission = opened(tmp_path / "solution.py")
    assert submission.files == () and "solution.py is a named pipe" in submission.problem


# --- what is not part of the work


def test_caches_and_environments_are_left_out(folder: Path) -> None:
    hooks = [".git/hooks/post-checkout", "deep/.git/config", "__MACOSX/._solution.py", "my_env/lib/os.py"]
    caches = ["__pycache__/solution.pyc", ".ipynb_checkpoints/a.ipynb", "node_modules/x.js", "my_env/pyvenv.cfg"]
    for place in hooks + caches:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(b"[filter] clean = touch /tmp/pwned\n")
    (folder / ".DS_Store").write_bytes(b"\0\0")
    (folder / "._solution.py").write_bytes(b"\0\0")
    (folder / "env").mkdir()
    (folder / "env" / "mine.py").write_bytes(CODE)
    submission = opened(folder)
    assert paths(submission) == ["env/mine.py", "solution.py"]
    (note,) = submission.notes
    assert note.startswith("Left out, because it is not part of the work: .DS_Store, ._solution.py, .git, ")
    assert note.endswith(" and 3 more.")


def test_released_course_is_left_out(folder: Path) -> None:
    for place in (".viva/assignments/a/starter/a.ipynb", ".viva/grader.yaml"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(b"{}")
    submission = opened(folder)
    assert paths(submission) == ["solution.py"] and submission.notes == ()


# --- names


def test_names_in_another_spelling(folder: Path) -> None:
    composed, decomposed = unicodedata.normalize("NFC", "lösung.py"), unicodedata.normalize("NFD", "lösung.py")
    (folder / composed).write_bytes(b"one")
    (folder / decomposed).write_bytes(b"two")
    submission = opened(folder)
    assert paths(submission) == [composed, "solution.py"]
    assert submission.notes == (f"Left out: {composed}, because another file has the same name in another spelling.",)


def test_file_and_folder_of_the_same_name(folder: Path) -> None:
    (folder / unicodedata.normalize("NFD", "lös")).write_bytes(b"file")
    (folder / unicodedata.normalize("NFC", "lös")).mkdir()
    (folder / unicodedata.normalize("NFC", "lös") / "a.py").write_bytes(b"x")
    assert paths(opened(folder)) == ["lös/a.py", "solution.py"]


def test_names_that_cannot_be_shown(folder: Path) -> None:
    (folder / "a\nb\x1b[2J.py").write_bytes(b"x")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"y")
    submission = opened(folder)
    assert paths(submission) == ["a\ufffdb\ufffd[2J.py", "caf\ufffd.txt", "solution.py"]
    for file in submission.files:
        file.path.encode("utf-8")
    assert submission.notes[0].startswith("Renamed, because the name holds characters that no program can show: ")


def test_names_that_differ_only_in_case(folder: Path) -> None:
    (folder / "Solution.py").write_bytes(b"x = 2\n")
    if len(list(folder.iterdir())) == 1:
        pytest.skip("this file system knows no upper case")
    submission = opened(folder)
    assert paths(submission) == ["Solution.py", "solution.py"]
    assert "Solution.py and solution.py differ only in upper and lower case" in submission.notes[0]


@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("Lab.IPYNB", "Lab.ipynb"),
        ("lab.ipynb.json", "lab.ipynb"),
        ("lab (1).Ipynb.TXT", "lab (1).ipynb"),
        ("own.Py", "own.py"),
        ("own.py.txt", "own.py"),
    ],
)
def test_changed_endings(folder: Path, name: str, read_as: str) -> None:
    (folder / name).write_bytes(b"{}")
    alone = opened(folder / name)
    assert paths(alone) == [read_as] and alone.notes == (f"{name} was read as {read_as}.",)
    beside = opened(folder)
    assert paths(beside) == sorted([read_as, "solution.py"]) and beside.notes == alone.notes


def test_changed_ending_replaces_no_file(folder: Path) -> None:
    (folder / "solution.py.txt").write_bytes(b"old")
    (folder / "data.json").write_bytes(b"{}")
    submission = opened(folder)
    assert paths(submission) == ["data.json", "solution.py", "solution.py.txt"]
    assert submission.notes == ("solution.py.txt was not read, because solution.py is there as well.",)


# --- the hash


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.text("abcöZ.", min_size=1, max_size=6).filter(lambda n: n.strip(".") and not n.startswith("._")),
                    st.binary(max_size=30), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_hash_does_not_depend_on_order(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], rng: random.Random
) -> None:
    hashes = set()
    for _ in range(2):
        root = tmp_path_factory.mktemp("order")
        names = list(files)
        rng.shuffle(names)
        for name in names:
            (root / name).write_bytes(files[name])
        hashes.add(opened(root).content_hash)
    assert len(hashes) == 1


def test_hash_is_of_names_and_bytes() -> None:
    one = digest([File("a", b"bc"), File("d", b"")])
    assert one == digest([File("d", b""), File("a", b"bc")])
    others = [
        [File("ab", b"c"), File("d", b"")],
        [File("a", b"bcd")],
        [File("a", b"bc")],
        [File("a", b"bd"), File("d", b"")],
    ]
    assert len({one, *(digest(files) for files in others)}) == 5
    assert len(one) == 64


def test_problems_have_different_hashes(folder: Path) -> None:
    (folder.parent / "a").mkdir()
    (folder.parent / "b.pdf").write_bytes(b"%PDF")
    assert opened(folder.parent / "a").content_hash != opened(folder.parent / "b.pdf").content_hash
