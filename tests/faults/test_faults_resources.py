"""Resources that run out or are missing: descriptors, memory, processes, disks, shared memory, /proc."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faulty_host import (
    assert_right,
    correct_or_said,
    grade,
    linux_only,
    own_mounts,
    patient_course,
    result,
    statuses,
)
from tests.support.run_command import Ran
from tests.support.words_course import RIGHT, hand_in
from viva.cli.shared.options import UNSAFE
from viva.sandbox.host.launch import START

pytestmark = [linux_only, pytest.mark.long]
HERE = Path("result.json")
INSIDE = START.parent
EMPTY = "mkdir -p empty && mount --bind -o ro empty"
MUCH = "b'x' * (400 << 20)"
HUNGRY = RIGHT.replace("result = 0", f"result, kept = 0, {MUCH}")
"""Uses what a box may use, and more than the small machine of a test has."""


@pytest.mark.parametrize(
    "descriptors",
    [8, 21, 25, 29, 40, *(pytest.param(number, marks=pytest.mark.nightly) for number in (18, 23, 27, 28, 30, 31, 32))],
)
def test_too_few_descriptors(descriptors: int) -> None:
    """Nothing waits for the answer of a thread that has ended (the limits of the course and of a box are 60 s)."""
    ran = grade("class/ada", "-o", HERE, shell=f"ulimit -n {descriptors}; {{}}", within_s=45)
    correct_or_said(ran, HERE)
    if descriptors >= 40:
        assert ran.status == 0


@pytest.mark.parametrize("kib", [200_000, 250_000, 300_000])
def test_too_little_address_space(kib: int) -> None:
    """As some clusters limit it. With still less, numpy's own library ends every process that loads it."""
    correct_or_said(grade("class/ada", "-o", HERE, shell=f"ulimit -v {kib}; {{}}"), HERE)


def _cgroup(controller: str, *names: str) -> Iterator[Path]:
    """Make a cgroup and yield the file that limits everything in it."""
    for parent in (Path("/sys/fs/cgroup", controller), Path("/sys/fs/cgroup")):
        folder = parent / f"faults-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            limits = [folder / name for name in names if (folder / name).exists()]
            if limits:
                break
            folder.rmdir()
    else:
        pytest.skip(f"no cgroup that limits {controller} can be made here")
    yield limits[0]
    folder.rmdir()


@pytest.fixture
def few_processes() -> Iterator[Path]:
    """The limit of a cgroup for everything that the command starts; root knows no other limit of processes."""
    yield from _cgroup("pids", "pids.max")


@pytest.fixture
def little_memory() -> Iterator[Path]:
    """The limit of a cgroup that stands for a machine, or for a container, with that much memory."""
    yield from _cgroup("memory", "memory.max", "memory.limit_in_bytes")


@pytest.mark.parametrize("processes", [2, 8, 12, 16, 18, 40])
def test_too_few_processes(few_processes: Path, processes: int) -> None:
    few_processes.write_text(str(processes), "ascii")
    correct_or_said(grade("class/ada", "-o", HERE, shell=_joins(few_processes)), HERE)


def _joins(limit: Path) -> str:
    return f"echo $$ > {limit.parent}/cgroup.procs; exec {{}}"


@pytest.mark.parametrize("before", [[], ["mkdir -p empty && mount --bind -o ro empty /sys/fs/cgroup"]])
@pytest.mark.parametrize("source", [HUNGRY, f"kept = {MUCH}\n{RIGHT}"], ids=["in a test", "while it is loaded"])
def test_machine_out_of_memory(little_memory: Path, source: str, before: list[str]) -> None:
    """What the system killed was said to have gone beyond a limit of its own, which left it 0 points."""
    little_memory.write_text(str(300 << 20), "ascii")
    hand_in(Path("hungry"), source)
    shell = _joins(little_memory)
    ran = grade("hungry", "-o", HERE, shell=shell, before=own_mounts(*before) if before else ())
    correct_or_said(ran, HERE)
    # With version 2, boxes that have cgroups are not below the one that stands for the machine.
    assert ran.status == 0 or "this machine ran out of memory" in ran.out + ran.err


def test_full_temporary_folders() -> None:
    full = "mkdir -p full && mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero > full/x"
    places = [f"mount --bind full {place}" for place in ("/var/tmp", "scratch")]
    ran = grade("class/ada", "-o", HERE, before=own_mounts(full, *places))
    correct_or_said(ran, HERE)
    assert ran.status == 0  # /tmp has room, and Python finds it


@pytest.mark.parametrize("size", ["size=8k", "nr_inodes=2"])
def test_small_temporary_folder(size: str) -> None:
    """A folder with room for a moment is taken as the place; what is written there later finds none."""
    small = f"mount -t tmpfs -o {size} none scratch"
    correct_or_said(grade("class/ada", "-o", HERE, before=own_mounts(small)), HERE)


def test_no_shared_memory() -> None:
    assert_right(grade("class/ada", "-o", HERE, before=own_mounts(f"{EMPTY} /dev/shm")), HERE)


def test_no_cgroups() -> None:
    """Memory of all processes together is polled, and the result says so."""
    assert_right(grade("class/ada", "-o", HERE, before=own_mounts(f"{EMPTY} /sys/fs/cgroup")), HERE)
    assert any("memory" in text for text in result(HERE).extra_data.isolation.missing)


def test_read_only_home_and_course(course: Path) -> None:
    env = {"HOME": "/proc", "XDG_CACHE_HOME": "/proc/cache"}
    mounts = own_mounts(f"mount --bind {course} {course}", f"mount -o remount,ro,bind {course}")
    assert_right(grade("class/ada", "-o", HERE, before=mounts, env=env), HERE)


def test_no_proc() -> None:
    """The sentence was `No such file or directory: '/proc/self'`."""
    ran = grade("class/ada", "-o", HERE, before=own_mounts(f"{EMPTY} /proc"))
    assert ran.status == 1 and not HERE.exists()
    assert "/proc, where a process finds its own threads and memory, is not mounted here; mount it" in ran.sentence()


def test_results_on_a_read_only_disk() -> None:
    ran = grade("class", "-o", "disk", before=own_mounts("mkdir -p disk && mount -t tmpfs -o ro none disk"))
    assert (ran.status, ran.out) == (1, "") and "read-only" in ran.sentence() and "with -o" in ran.sentence()


@pytest.mark.parametrize("options", ["size=4k", "nr_inodes=2"])
def test_results_on_a_full_disk(options: str) -> None:
    ran = grade("class", "-o", "disk", before=own_mounts(f"mkdir -p disk && mount -t tmpfs -o {options} none disk"))
    assert ran.status == 1 and "the disk is full" in ran.err and "Traceback" not in ran.err


def test_records_on_a_full_disk(course: Path) -> None:
    """The sentence says whose score was not kept, if it was a score that found no room; its result is whole."""
    full = f"mkdir -p records && mount -t tmpfs -o size=360k none records && cd {Path.cwd()}"
    url = f"sqlite:///{Path.cwd() / 'records/records.db'}"
    for index in range(60):
        hand_in(Path("class", f"s{index}"), f"{RIGHT}\n# {index}\n")
    ran = grade("class", "-o", "graded", "--records", url, before=own_mounts(full))
    assert ran.status == 1 and "Traceback" not in ran.err
    assert "The records " in ran.err and ("disk is full" in ran.err or "disk I/O error" in ran.err)
    # Which write finds no room first, that of a score or that of a claim, depends on how the workers take turns.
    named = re.findall(r"^viva: (\S+) was graded and not kept", ran.err, re.M)
    assert len(named) == ran.err.count("was graded and not kept") <= 1, ran.err
    assert all(result(Path("graded", name, "results.json")).extra_data.complete for name in named)


WRITES = """

@number("1.3")
def test_with_a_file(student):
    \"\"\"A test of the author's that writes what it was answered.\"\"\"
    import tempfile
    total = student.total([1, 2])
    with tempfile.TemporaryFile() as file:
        file.write(bytes(100_000))
    assert total == 3
"""


def test_full_disk_in_author_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an answer had come, an exception was taken for the fault of the answer, and the points were lost."""
    course = patient_course(tmp_path / "own")
    with (course / "graders/words/test_words.py").open("a", encoding="utf-8") as tests:
        tests.write(WRITES)
    monkeypatch.setenv("VIVA_COURSE", str(course))
    ran = grade("class/ada", "-o", HERE, before=own_mounts("mount -t tmpfs -o size=40k none scratch"))
    assert ran.status == 2 and "not graded yet because something went wrong on the grader's side" in ran.err
    assert [status for status in statuses(result(HERE)) if status not in ("passed", "needs_review")] == ["grader_error"]
    assert "No space left on device" in ran.out


@pytest.mark.parametrize("room_kib", [-200, 100, 1000])
def test_boxes_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room_kib: int) -> None:
    """Without mounts of its own a box keeps its files there; a right submission for which it had no room was told that
    it defines nothing, and lost everything."""
    if any(Path(place).resolve().is_relative_to("/tmp") for place in (sys.prefix, INSIDE)):
        pytest.skip("the engine or its environment lies in /tmp, which this test covers")
    monkeypatch.setenv("VIVA_COURSE", str(patient_course(tmp_path / "own")))
    monkeypatch.setenv("TMPDIR", "/tmp")
    Path("class/ada/notes.txt").write_text("." * 300_000, "ascii")
    engine_kib = sum(path.stat().st_size // 4096 * 4 + 4 for path in INSIDE.rglob("*.py"))
    kept = ["mount --bind . /mnt", f"mount -t tmpfs -o size={engine_kib + room_kib}k none /tmp"]
    place = [f"mkdir -p {tmp_path}", f"mount --bind /mnt {tmp_path}", f"cd {tmp_path}"]
    ran = grade("class/ada", "-o", HERE, "--tier", "T0", before=own_mounts(*kept, *place))
    said = ran.err.replace(f"viva: isolation T0: {UNSAFE}.\n", "")
    correct_or_said(Ran(ran.status, ran.out, said), HERE)
    assert ran.status == {-200: 1, 100: 2, 1000: 0}[room_kib]
    if ran.status:
        assert "No space left on device" in ran.out + ran.err
