"""Submissions are read by descriptor: no link is followed, nothing special is opened, every limit is a sentence."""

import errno
import os
import random
import shutil
import socket
import stat
import time
import tracemalloc
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.model import File, Submission
from viva.model.errors import UsageError
from viva.submissions import open_submission
from viva.submissions.notebook_count import with_notebooks_counted
from viva.submissions.open_submission import digest

ONE = frozenset({"hw.ipynb", "*.ipynb"})
CODE = b"def f():\n    return 1\n"


def opened(path: Path, **limits: int) -> Submission:
    return open_submission(path, str(path), **limits)


def paths(submission: Submission) -> list[str]:
    return [f.path for f in submission.files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good submission, to which bad things are added."""
    made = tmp_path / "class" / "alice"
    made.mkdir(parents=True)
    (made / "solution.py").write_bytes(CODE)
    return made


def test_a_file_and_a_folder(folder: Path) -> None:
    single = opened(folder / "solution.py")
    assert (single.name, paths(single), single.problem, single.notes) == (
        str(folder / "solution.py"),
        ["solution.py"],
        "",
        (),
    )
    (folder / "inner").mkdir()
    (folder / "inner" / "helper.py").write_bytes(b"x = 1\n")
    whole = opened(folder)
    assert paths(whole) == ["inner/helper.py", "solution.py"]
    assert whole.files[1].data == CODE
    assert whole.problem == "" and whole.notes == ()


def test_a_relative_path_with_dots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert paths(opened(Path())) == paths(opened(Path("../alice/."))) == paths(opened(folder)) == ["solution.py"]


# --- links


def test_a_link_as_the_submission_is_not_followed(folder: Path) -> None:
    link = folder.parent / "mallory"
    link.symlink_to(folder)
    submission = opened(link)
    assert submission.problem == "mallory is a link: submit a file or a folder that can be opened."
    assert submission.files == ()


def test_a_link_on_the_way_is_the_command_s_fault_and_named(folder: Path) -> None:
    link = folder.parent.parent / "shortcut"
    link.symlink_to(folder.parent)
    with pytest.raises(UsageError, match=r"shortcut/alice: .*/shortcut is a link, and links are not followed"):
        opened(link / "alice")


def test_a_relative_link_on_the_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "deep").symlink_to("alice")
    monkeypatch.chdir(folder.parent.parent)
    with pytest.raises(UsageError, match="class/deep is a link"):
        opened(Path("class/deep/solution.py"))


TARGETS = ["/etc/passwd", "/etc", "../../..", "solution.py", "nowhere", "/dev/zero", "self"]


def test_links_inside_are_left_out_and_noted(folder: Path) -> None:
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


def test_a_file_that_becomes_a_link_while_we_look_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race between looking and opening: the kernel itself refuses the link."""
    victim = folder / "solution.py"
    real_stat = os.stat

    def stat_then_swap(path: object, **options: object) -> os.stat_result:
        found = real_stat(path, **options)  # type: ignore[call-overload]
        if path == "solution.py" and stat.S_ISREG(found.st_mode):
            victim.unlink()
            victim.symlink_to("/etc/passwd")
        return found  # type: ignore[no-any-return]

    monkeypatch.setattr(os, "stat", stat_then_swap)
    submission = opened(folder)
    monkeypatch.undo()
    assert submission.files == ()
    assert "solution.py cannot be read" in submission.problem


# --- special files


def test_pipes_sockets_and_devices_are_left_out_without_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_device_as_the_submission(device: str) -> None:
    submission = opened(Path(device))
    assert submission.files == () and f"{Path(device).name} is a device" in submission.problem


def test_a_pipe_as_the_submission(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "solution.py")
    submission = opened(tmp_path / "solution.py")
    assert submission.files == () and "solution.py is a named pipe" in submission.problem


# --- what is not part of the work


def test_version_control_caches_and_environments_are_left_out(folder: Path) -> None:
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


def test_the_course_that_came_with_the_starter_is_left_out_without_a_word(folder: Path) -> None:
    for place in (".viva/assignments/a/starter/a.ipynb", ".viva/grader.yaml"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(b"{}")
    submission = opened(folder)
    assert paths(submission) == ["solution.py"] and submission.notes == ()


# --- names


def test_names_in_another_spelling_are_the_same_name(folder: Path) -> None:
    composed, decomposed = unicodedata.normalize("NFC", "lösung.py"), unicodedata.normalize("NFD", "lösung.py")
    (folder / composed).write_bytes(b"one")
    (folder / decomposed).write_bytes(b"two")
    submission = opened(folder)
    assert paths(submission) == [composed, "solution.py"]
    assert submission.notes == (f"Left out: {composed}, because another file has the same name in another spelling.",)


def test_a_file_in_the_way_of_a_folder_of_the_same_name(folder: Path) -> None:
    (folder / unicodedata.normalize("NFD", "lös")).write_bytes(b"file")
    (folder / unicodedata.normalize("NFC", "lös")).mkdir()
    (folder / unicodedata.normalize("NFC", "lös") / "a.py").write_bytes(b"x")
    assert paths(opened(folder)) == ["lös/a.py", "solution.py"]


def test_names_that_cannot_be_shown_become_names_that_can(folder: Path) -> None:
    (folder / "a\nb\x1b[2J.py").write_bytes(b"x")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"y")
    submission = opened(folder)
    assert paths(submission) == ["a\ufffdb\ufffd[2J.py", "caf\ufffd.txt", "solution.py"]
    for file in submission.files:
        file.path.encode("utf-8")
    assert submission.notes[0].startswith("Renamed, because the name holds characters that no program can show: ")


def test_names_that_differ_only_in_case_are_both_read_and_noted(folder: Path) -> None:
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
def test_code_is_read_whatever_its_ending_became(folder: Path, name: str, read_as: str) -> None:
    (folder / name).write_bytes(b"{}")
    alone = opened(folder / name)
    assert paths(alone) == [read_as] and alone.notes == (f"{name} was read as {read_as}.",)
    beside = opened(folder)
    assert paths(beside) == sorted([read_as, "solution.py"]) and beside.notes == alone.notes


def test_no_file_is_replaced_by_one_with_another_ending(folder: Path) -> None:
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
def test_the_hash_does_not_depend_on_the_order_of_creation(
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


def test_the_hash_is_of_names_and_bytes() -> None:
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


# --- limits and problems


def test_nothing_there_is_the_command_s_fault(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"alise: no such file or folder; did you mean .*/class/alice\?"):
        opened(folder.parent / "alise")
    with pytest.raises(UsageError, match=r"no such file or folder \(.*/nowhere does not exist either\)"):
        opened(folder / "nowhere" / "x.py")
    with pytest.raises(UsageError, match="no such file or folder"):
        opened(folder / "solution.py" / "x.py")


def test_a_sparse_file_of_500_mb_is_not_read(folder: Path) -> None:
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


def test_all_files_together_have_a_limit(folder: Path) -> None:
    for index in range(3):
        (folder / f"{index}.bin").write_bytes(bytes(400 << 10))
    submission = opened(folder, max_mib=1)
    assert submission.files == () and "larger than 1 MiB (2.bin alone is 409,600 bytes)" in submission.problem


def test_a_file_that_lies_about_its_size_is_cut_off() -> None:
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
        (
            make("report.pdf", b"%PDF-1.7 ..."),
            "report.pdf cannot be graded (it is a PDF): submit a notebook (.ipynb), a Python",
        ),
        (make("notes.txt", b"hello"), "notes.txt cannot be graded: submit a notebook (.ipynb), a Python file (.py)"),
        (make("hw.ipynb", b"PK\x03\x04zip"), "hw.ipynb is a zip archive, not text, whatever its name says"),
        (make("hw.ipynb", b"  <!DOCTYPE html>"), "hw.ipynb is a web page that shows your work"),
        (make("solution.py", bytes(range(256))), "solution.py is binary data, not text"),
        (make("solution.py", b"\x7fELF\x02"), "solution.py is a program, not text"),
    ],
)
def test_what_cannot_be_graded_is_one_sentence(tmp_path: Path, prepare: Callable[[Path], Path], sentence: str) -> None:
    submission = opened(prepare(tmp_path))
    assert sentence in submission.problem
    assert "\n" not in submission.problem
    assert submission.files == ()
    assert len(submission.content_hash) == 64


@pytest.mark.parametrize("name", ["hw.zip", "hw.tar.gz", "HW.ZIP", "hw.tgz", "answers.yaml", "a.py", "a.ipynb"])
def test_what_can_be_graded_is_left_to_the_box(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 whatever" if "z" in name.lower() else b"x")
    assert opened(tmp_path / name).problem == ""


def test_text_in_utf_16_is_text(tmp_path: Path) -> None:
    (tmp_path / "hw.ipynb").write_bytes("{}".encode("utf-16"))
    assert opened(tmp_path / "hw.ipynb").problem == ""


def test_a_few_notebooks_are_all_used_and_said(tmp_path: Path) -> None:
    two = opened(several(2)(tmp_path))
    submission = with_notebooks_counted(two, ONE)
    assert submission.problem == ""
    assert submission.notes[0].startswith("2 notebooks were found (n00.ipynb, n01.ipynb), and all of them are used")
    assert with_notebooks_counted(two, frozenset({"a.ipynb", "b.ipynb"})).notes == ()
    assert with_notebooks_counted(two, frozenset({"n01.ipynb"})).notes == ()


def test_a_folder_of_notebooks_is_no_submission_unless_the_assignment_has_as_many(tmp_path: Path) -> None:
    submission = opened(several(20)(tmp_path))
    for names in (frozenset[str](), ONE, frozenset(f"m{n}.ipynb" for n in range(19))):
        problem = with_notebooks_counted(submission, names).problem
        assert problem.startswith("20 notebooks were found (n00.ipynb, n01.ipynb, n02.ipynb and 17 more), and it ")
    assert with_notebooks_counted(submission, frozenset(f"m{n}.ipynb" for n in range(20))) == submission
    assert with_notebooks_counted(submission, frozenset({"n07.ipynb"})) == submission
    assert not with_notebooks_counted(opened(several(4)(tmp_path / "four")), ONE).problem


def test_an_empty_file_among_others_is_noted(folder: Path) -> None:
    (folder / "hw.ipynb").touch()
    (folder / "__init__.py").touch()
    submission = opened(folder)
    assert submission.notes == ("hw.ipynb is empty (0 bytes).",) and submission.problem == ""


def test_a_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def refuse(path: object, *arguments: object, **options: object) -> int:
        if path == "solution.py":
            raise PermissionError(errno.EACCES, "Permission denied")  # permissions do not stop root
        return real_open(path, *arguments, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(os, "open", refuse)
    for path in (folder, folder / "solution.py"):
        submission = opened(path)
        assert submission.files == () and "solution.py cannot be read (Permission denied)" in submission.problem
