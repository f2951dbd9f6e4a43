"""The measuring itself: CPU of whole trees, totals of other tools, and detectors of leaks that do detect."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import snapshot, soak
from bench.measure import COUNTS_BOXES, run
from bench.small_course import TESTS, WRONG, source_of, total_of
from bench.snapshot import Snapshot
from bench.tools import NotGraded, _check
from viva.sandbox.guest.transport.control import FOLDER_PREFIX

ROOT = Path(__file__).parents[2]
BURN = "import time\nwhile time.process_time() < 0.3: pass"


@pytest.mark.skipif(not COUNTS_BOXES, reason="no control group for accounts can be made here")
def test_cpu_of_a_process_without_a_waiter(tmp_path: Path) -> None:
    """As those of a box that is killed with its namespace."""
    program = f"import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {BURN!r} + '\\nprint()\\n'], "
    program += "stdout=subprocess.PIPE)\np.stdout.readline()\np.returncode = 0"
    cost = run([sys.executable, "-c", program], cwd=tmp_path)
    assert cost.cpu_s >= 0.3


def test_peak_memory_of_a_run(tmp_path: Path) -> None:
    """Not that of any run before. Measured by a small process: what the measuring one has taken is a floor."""
    program = f"""
import sys
from pathlib import Path
from typing import Any
from bench.measure import run
large = run([sys.executable, "-c", "x = b'x' * (200 << 20)"], cwd=Path({str(tmp_path)!r}))
small = run([sys.executable, "-c", "print('said')"], cwd=Path({str(tmp_path)!r}))
print(large.peak_mib > 200 > small.peak_mib, small.output, end="")
"""
    assert run([sys.executable, "-c", program], cwd=ROOT).output == "True said\n"


def test_failed_run(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"], cwd=tmp_path)
    assert run([sys.executable, "-c", "raise SystemExit(3)"], cwd=tmp_path, statuses=(3,)).cpu_s > 0


def test_wrong_student_is_wrong_in_one_test() -> None:
    """So a tool that gives everybody full marks is refused."""
    spaces: dict[int, dict[str, Any]] = {}
    for student in (0, WRONG):
        spaces[student] = {}
        exec(source_of(student, torch=False), spaces[student])
    assert spaces[0]["causal_mask"](2).tolist() != spaces[WRONG]["causal_mask"](2).tolist()
    assert total_of(0) - total_of(WRONG) == total_of(0) / len(TESTS)
    with pytest.raises(NotGraded, match="gave submission 1"):
        _check("a tool", WRONG, total_of(0))


@contextlib.contextmanager
def kept_descriptor(tmp_path: Path) -> Iterator[None]:
    with (tmp_path / "file").open("w"):
        yield


@contextlib.contextmanager
def kept_process(tmp_path: Path) -> Iterator[None]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield
        process.kill()


@contextlib.contextmanager
def kept_memory(tmp_path: Path) -> Iterator[None]:
    block = bytearray(os.urandom(1) * (64 << 20))
    yield
    del block


@contextlib.contextmanager
def kept_file(tmp_path: Path) -> Iterator[None]:
    (tmp_path / f"{FOLDER_PREFIX}{os.getpid()}-left").touch()
    yield


@contextlib.contextmanager
def kept_group(tmp_path: Path) -> Iterator[None]:
    group = next(p for p in (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")) if p.is_dir())
    made = group / f"{FOLDER_PREFIX}{os.getpid()}-left"
    try:
        made.mkdir()
    except OSError:
        pytest.skip("no control group can be made here")
    yield
    made.rmdir()


PLANTED: dict[str, Callable[[Path], contextlib.AbstractContextManager[None]]] = {
    "descriptors": kept_descriptor,
    "processes": kept_process,
    "memory": kept_memory,
    "files": kept_file,
    "cgroups": kept_group,
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_leak(kind: str, tmp_path: Path) -> None:
    """Each detector can fail: what is really left over is reported, by its name and alone."""

    def look(graded: int) -> Snapshot:
        return snapshot.take(graded, os.getpid(), [os.getpid()], [tmp_path])

    clean = [look(1), look(2)]
    assert soak.leaks(clean, 1.0, []) == []
    with PLANTED[kind](tmp_path):
        found = soak.leaks([*clean, look(3), look(4)], 1.0, [])
    assert [text.split(":")[0] for text in found] == [kind]
