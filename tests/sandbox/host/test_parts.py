"""Parts of the box that can be tested without one."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from viva.sandbox.errors import ProtocolViolation
from viva.sandbox.folder_locks import lock_folder
from viva.sandbox.guest.lockdown import landlock
from viva.sandbox.guest.lockdown.visible_files import View
from viva.sandbox.guest.process import descendants, workdirs
from viva.sandbox.host import leftovers
from viva.sandbox.host.captured_output import CapturedOutput
from viva.sandbox.host.exit_reason import reason_of
from viva.sandbox.host.levels.detect_levels import TierReport
from viva.sandbox.host.limits.cgroups import CgroupParent
from viva.sandbox.host.limits.uids import BorrowedUid
from viva.sandbox.host.ready_message import ReadyMessage
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """real/{a,b/c}, and links on the way."""
    root = tmp_path.resolve()
    (root / "real" / "b" / "c").mkdir(parents=True)
    (root / "real" / "a").write_text("a")
    (root / "link").symlink_to("real")
    (root / "chain").symlink_to(root / "link" / "b" / "..")
    (root / "loop").symlink_to("loop")
    return root


def test_view_follows_links(tree: Path) -> None:
    view = View([str(tree / "chain" / "b")])
    assert view.shown == [str(tree / "real" / "b")]
    assert view.own_links() == {str(tree / "chain"): str(tree / "link" / "b" / ".."), str(tree / "link"): "real"}


def test_view_shows_nothing_twice(tree: Path) -> None:
    view = View([str(tree / "real"), str(tree / "real" / "b" / "c"), str(tree / "link" / "a")])
    assert view.shown == [str(tree / "real")]
    assert view.covers(str(tree / "real" / "b" / "c")) and not view.covers(str(tree))


@pytest.mark.parametrize("name", ["loop", "absent", "real/a/below-a-file"])
def test_view_of_nothing(tree: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=name):
        View([str(tree / name)])


def test_rules_go_around_what_is_hidden(tree: Path) -> None:
    rules = dict(landlock.split_around(str(tree / "real"), [str(tree / "real" / "b")]))
    assert rules == {str(tree / "real"): landlock.READ_DIR, str(tree / "real" / "a"): landlock.READ}
    assert landlock.split_around(str(tree / "real"), ["/elsewhere"]) == [(str(tree / "real"), landlock.READ)]
    assert landlock.split_around(str(tree / "real"), [str(tree / "real")]) == []


def test_trees_are_removed_however_deep_and_closed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "target").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (tree / "link").symlink_to(outside)
    here = os.open(tree, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 100, dir_fd=here)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.fchmod(here, 0)
    os.close(here)
    workdirs.remove(str(tree))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside"]
    assert (outside / "kept").read_text() == "kept"


@pytest.mark.skipif(not hasattr(os, "setresuid") or os.geteuid() != 0, reason="only root becomes another user")
def test_sweep_user(monkeypatch: pytest.MonkeyPatch) -> None:
    become, (reader, writer) = os.setresuid, os.pipe2(os.O_NONBLOCK)
    os.write(writer, b"the first one dies")

    def become_a_victim(real: int, effective: int, saved: int) -> None:
        become(real, effective, saved)
        with contextlib.suppress(BlockingIOError):
            if os.read(reader, 100):
                os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(os, "setresuid", become_a_victim)
    borrowed = BorrowedUid()
    with subprocess.Popen(["/bin/sleep", "600"], user=borrowed.uid) as process:
        descendants.sweep_user(borrowed.uid)
        process.terminate()  # nothing for a process that has been killed
        assert process.wait() == -signal.SIGKILL
    borrowed.give_back()
    for fd in (reader, writer):
        os.close(fd)


@pytest.mark.skipif(os.name != "posix", reason="files have no owners")
def test_remove_belongings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "left" / "below").mkdir(parents=True)
    (tmp_path / "left" / "below" / "file").write_text("left")
    (tmp_path / "alone").write_text("left")

    def seen_by_others(prefix: str, dir: str) -> str:
        private = Path(dir, f"{prefix}1")
        private.mkdir()
        for name in (f".{private.name}-1", f".{private.name}-2", ".left-1"):
            Path(dir, name, "full").mkdir(parents=True)
        return str(private)

    monkeypatch.setattr("tempfile.mkdtemp", seen_by_others)
    workdirs.remove_belongings(os.getuid(), [str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".left-1", ".viva-1-1", ".viva-1-2"]


@pytest.mark.parametrize(
    ("report", "out_of_memory", "words"),
    [
        (b'{"status": 768}\n', False, "exit status 3"),
        (b'{"status": 11}\n', False, "signal 11 (SIGSEGV)"),
        (b'{"status": 24}\n', False, "processor time limit"),
        (b'{"status": 9}\n', True, "memory limit"),
        (b'{"status": 63}\n', False, "signal 63"),
        (b"", False, "it was killed"),
        (b"noise", False, "it was killed"),
    ],
)
def test_endings_have_words(report: bytes, out_of_memory: bool, words: str) -> None:
    assert reason_of(report, out_of_memory=out_of_memory) == words


@pytest.mark.parametrize(
    "message", [None, [], {}, {"tier": "T3"}, {"tier": 1, "layers": [], "probes": {}, "missing": []}]
)
def test_odd_hello_is_refused(message: object) -> None:
    with pytest.raises(ProtocolViolation, match="not a hello"):
        ReadyMessage.from_wire(message)


def test_output_is_capped_and_counted() -> None:
    reading, writing = os.pipe()
    output = CapturedOutput(reading, 1)
    with contextlib.ExitStack() as stack:
        stack.callback(output.close)
        for _ in range(4):
            os.write(writing, b"z" * 60_000)
            assert output.drain() is True
        assert output.bytes() == b"z" * 1024
        assert output.flooded
        os.close(writing)
        assert output.drain() is False
    assert output.bytes() == b"z" * 1024


@pytest.mark.parametrize("place", ["the usual", "one that cannot be written"])
def test_no_two_examiners_share_a_user(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second examiner is another process, as in a batch."""
    if sys.platform != "linux":
        pytest.skip("boxes have users of their own on Linux only")
    usual = place == "the usual"
    if not usual:
        monkeypatch.setattr("viva.sandbox.host.limits.uids._RESERVATIONS", "/proc/no/such")
    mine = [BorrowedUid() for _ in range(50)]
    script = f"""
from viva.sandbox.host.limits import uids
from viva.sandbox.host.limits.uids import BorrowedUid
uids._RESERVATIONS = uids._RESERVATIONS if {usual} else "/proc/no/such"
held = [BorrowedUid() for _ in range(50)]
print(*[each.uid for each in held])
"""
    second = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    theirs = [int(uid) for uid in second.stdout.split()]
    taken = {uid.uid for uid in mine}
    for uid in mine:
        uid.give_back()
    assert len(taken) == 50
    assert all(60001 <= uid < 61181 for uid in taken)
    assert len(theirs) == 50 and taken.isdisjoint(theirs)


def test_tier_report_has_advice() -> None:
    layers = {"Linux": "ok: 6.1", "root": "failed: running as user 1000, not as root"}
    report = TierReport.from_trial(Tier.T3, layers, cgroup=False)
    assert not report.available and "not as root" in report.sentence
    assert len(report.missing) == len(report.advice) == 1
    older = TierReport.from_trial(
        Tier.T3, {"Linux": "ok: 5.10", "Landlock": "failed: this kernel has none"}, cgroup=False
    )
    assert older.available and len(older.missing) == len(older.advice) == 2
    assert TierReport.from_trial(Tier.T3, {"Linux": "ok: 6.1"}, cgroup=True).sentence == "complete"
    assert not TierReport.from_trial(Tier.T3, {}, cgroup=True).available


class FakeHierarchy:
    """Version 2 as a folder: directories that are made get the files that a kernel would put into them."""

    FILES = ("cgroup.procs", "cgroup.subtree_control", "memory.max", "memory.swap.max", "memory.oom.group", "pids.max")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
        mkdir, rmdir = os.mkdir, os.rmdir

        def make_and_fill(path: str) -> None:
            mkdir(path)
            self.fill(Path(path))

        def empty_and_remove(path: str) -> None:
            for file in Path(path).iterdir():
                file.unlink()
            rmdir(path)

        monkeypatch.setattr(os, "mkdir", make_and_fill)
        monkeypatch.setattr(os, "rmdir", empty_and_remove)
        hierarchies = [type("Hierarchy", (), {"controllers": frozenset(), "folder": str(own)})()]
        monkeypatch.setattr("viva.sandbox.host.limits.cgroups._hierarchies", lambda: hierarchies)

    def fill(self, folder: Path) -> None:
        for name in self.FILES:
            (folder / name).write_text("")


def test_cgroup_v2_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "user.slice"
    own.mkdir()
    fake = FakeHierarchy(monkeypatch, own)
    fake.fill(own)
    parent = CgroupParent.find()
    assert parent is not None
    cgroup = parent.make("1", Limits(memory_mib=100, processes=7))
    folder = Path(parent.folders[0]) / "1"
    assert folder.parent.parent == own
    assert (folder / "memory.max").read_text() == str(100 << 20)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "memory.oom.group").read_text() == "1"
    assert (folder / "pids.max").read_text() == "7"
    (folder / "memory.peak").write_text(str(3 << 20))
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert cgroup.peak_mib == 3.0 and cgroup.out_of_memory and cgroup.reached_its_limit
    (folder / "memory.events").write_text("low 0\noom 0\noom_kill 1\n")
    assert cgroup.out_of_memory and not cgroup.reached_its_limit
    cgroup.close_descriptors()
    cgroup.remove()
    parent.remove()
    assert not list(own.glob("viva-*"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go in this test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_abandoned_folders_are_removed(temporary: Path) -> None:
    names = ["viva-examiner-1-abandoned", "viva-examiner-1-claimed", "viva-examiner-1-young", "not-ours"]
    for name in names:
        (temporary / name / "work").mkdir(parents=True)
        if "young" not in name:
            os.utime(temporary / name, (1, 1))
    held = lock_folder(str(temporary / "viva-examiner-1-claimed"))
    leftovers.sweep_files()
    assert sorted(path.name for path in temporary.iterdir()) == sorted(names[1:])
    os.close(held)
    leftovers.sweep_files()
    assert sorted(path.name for path in temporary.iterdir()) == sorted(names[2:])


@pytest.mark.parametrize("name", ["viva-results", "viva-2026-homework", "viva-examiner-notes", "viva-examiner-7"])
def test_folder_of_others_stays(temporary: Path, name: str) -> None:
    """Every folder in /tmp that was called viva-something and older than a minute went away, with what was in it."""
    (temporary / name).mkdir()
    (temporary / name / "results.json").write_text("{}")
    os.utime(temporary / name, (1, 1))
    leftovers.sweep_files()
    assert (temporary / name / "results.json").is_file()


def test_abandoned_link_is_not_followed(temporary: Path) -> None:
    (temporary / "elsewhere" / "kept").mkdir(parents=True)
    (temporary / "viva-examiner-1-link").symlink_to(temporary / "elsewhere")
    os.utime(temporary / "viva-examiner-1-link", (1, 1), follow_symlinks=False)
    leftovers.sweep_files()
    assert (temporary / "elsewhere" / "kept").is_dir()
