"""Resources of viva that run out: descriptors, address space, processes."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faulty_host import correct_or_said, grade, linux_only, own_mounts
from tests.support.words_course import RIGHT, hand_in

pytestmark = [linux_only, pytest.mark.long]
HERE = Path("result.json")
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
def test_a_machine_whose_memory_is_used_up(little_memory: Path, source: str, before: list[str]) -> None:
    """What the system killed was said to have gone beyond a limit of its own, which left it 0 points."""
    little_memory.write_text(str(300 << 20), "ascii")
    hand_in(Path("hungry"), source)
    shell = _joins(little_memory)
    ran = grade("hungry", "-o", HERE, shell=shell, before=own_mounts(*before) if before else ())
    correct_or_said(ran, HERE)
    # With version 2, boxes that have cgroups are not below the one that stands for the machine.
    assert ran.status == 0 or "this machine ran out of memory" in ran.out + ran.err
