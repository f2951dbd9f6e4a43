"""Resources of ours that run out: descriptors, address space, processes."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import correct_or_said, grade, linux_only

pytestmark = [linux_only, pytest.mark.long]
HERE = Path("result.json")


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


@pytest.fixture
def few_processes() -> Iterator[Path]:
    """A cgroup for everything that the command starts; root knows no other limit of processes."""
    for parent in (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")):
        folder = parent / f"faults-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / "pids.max").exists():
                break
            folder.rmdir()
    else:
        pytest.skip("no cgroup that limits processes can be made here")
    yield folder
    folder.rmdir()


@pytest.mark.parametrize("processes", [2, 8, 12, 16, 18, 40])
def test_too_few_processes(few_processes: Path, processes: int) -> None:
    (few_processes / "pids.max").write_text(str(processes), "ascii")
    join = f"echo $$ > {few_processes}/cgroup.procs"
    correct_or_said(grade("class/ada", "-o", HERE, shell=f"{join}; exec {{}}"), HERE)
