"""Boxes without a fork server, as on macOS: tier T0, a fresh interpreter for each. Tested on every system."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.host.conftest import SMALL
from tests.support.boxed_program import Program
from tests.support.wait_until import wait_until
from viva.sandbox.errors import BoxDied, BoxTimeout, BoxUnavailable
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.tier import Tier

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def starter() -> Iterator[ForkServer]:
    """Makes boxes one program at a time."""
    with ForkServer.start(Tier.T0, preload=["numpy"], with_fork_server=False) as started:
        yield started


@pytest.fixture
def program(starter: ForkServer) -> Iterator[Program]:
    """A box to load student code into; the next one must work."""
    with starter.spawn(SMALL) as box:
        yield Program(box, Tier.T0)
    with starter.spawn(SMALL) as following:
        assert following.alive


def test_it_asks_and_answers(program: Program) -> None:
    program.load("import sys\ndef double(x): return 2 * x, 'numpy' in sys.modules")
    assert list(program.call("double", 21)) == [42, True]
    assert program.box.ready_message.tier == "T0" and "numpy" in program.box.ready_message.versions
    assert "seccomp" in program.box.ready_message.missing


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("os._exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("\n    while True: os.write(1, b'x' * 65536)", "too much output"),
    ],
)
def test_reason_of_ending(program: Program, statement: str, reason: str) -> None:
    program.load(f"import os\ndef end(): {statement}")
    with pytest.raises(BoxDied, match=reason):
        program.call("end", timeout_s=30)


def test_hang_is_ended_from_outside(program: Program) -> None:
    program.load("def hang():\n    while True: pass")
    with pytest.raises(BoxTimeout):
        program.call("hang", timeout_s=0.3)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a family of processes uses")
def test_memory_is_watched(program: Program) -> None:
    program.load(
        """
        import mmap, time
        def bomb(mib):
            shared = mmap.mmap(-1, mib << 20)
            for offset in range(0, mib << 20, 4096):
                shared[offset] = 1
            time.sleep(5)
        """
    )
    with pytest.raises(BoxDied, match="memory limit"):
        program.call("bomb", 2 * SMALL.memory_mib, timeout_s=30)


def test_children_end_with_it(program: Program) -> None:
    program.load(
        """
        import os, time
        def start():
            pid = os.fork()
            if pid == 0:
                while True:
                    time.sleep(1)
            return pid
        """
    )
    child = program.call("start")
    program.box.close()
    wait_until(lambda: not _lives(child))


def _lives(pid: int) -> bool:
    """Return whether it is alive, and not a zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def test_box_ends_with_killed_examiner() -> None:
    script = """
import time
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier
fork_server = ForkServer.start(Tier.T0, preload=[], with_fork_server=False)
box = fork_server.spawn(Limits())
print(box.ask("put", timeout_s=5, path="x", data=b"")["ok"], flush=True)
time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as examiner:
        assert examiner.stdout is not None
        assert examiner.stdout.readline()
        children = subprocess.run(["pgrep", "-P", str(examiner.pid)], capture_output=True, text=True, check=True)
        pids = [int(word) for word in children.stdout.split()]
        assert pids
        examiner.kill()
    wait_until(lambda: not any(map(_lives, pids)))


def test_nothing_is_left(starter: ForkServer) -> None:
    def held() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    with starter.spawn(SMALL) as box:
        folder = box.resources.folder
        assert folder is not None and Path(folder).is_dir()
    before = held()
    for _ in range(3):
        with starter.spawn(SMALL):
            pass
    assert held() == before
    assert not Path(folder).exists()


def test_pool_of_standalone_boxes(starter: ForkServer) -> None:
    with Pool(starter, SMALL, ready=1, data=[("a/b.txt", b"hi")]) as pool, pool.take() as box:
        program = Program(box, Tier.T0)
        program.load("def read(): return open('a/b.txt').read()")
        assert program.call("read") == "hi"


def test_closing_ends_forgotten_boxes() -> None:
    own = ForkServer.start(Tier.T0, preload=[], with_fork_server=False)
    box = own.spawn(SMALL)
    own.close()
    with pytest.raises(BoxDied):
        box.ask("names", timeout_s=1)
    box.close()
    with pytest.raises(BoxUnavailable, match="closed"):
        own.spawn(SMALL)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tier": Tier.T1}, "T0 alone"),
        ({"preload": ["no_such_module"]}, "no_such_module"),
        ({"python": "/no/such/python"}, "/no/such/python"),
    ],
)
def test_invalid_options(options: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"tier": Tier.T0, "preload": [], "with_fork_server": False, **options}
    with pytest.raises(BoxUnavailable, match=words):
        ForkServer.start(**arguments)
