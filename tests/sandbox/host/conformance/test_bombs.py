"""Using too much of something: what student code sees, how the box ends, and that others go on."""

import pytest

from tests.support.boxed_program import Program, Raised
from viva.sandbox.errors import BoxDied
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

pytestmark = pytest.mark.long

FORK_BOMB = """
import os, time
def bomb():
    started = 0
    while started < 400:
        try:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
        except BlockingIOError:
            return started
        started += 1
    time.sleep(5)
    return started
"""


def test_fork_bomb(program: Program, limits: Limits) -> None:
    program.load(FORK_BOMB)
    assert_bounded(program, limits)


def assert_bounded(program: Program, limits: Limits) -> None:
    how, what = program.attempt("bomb")
    if program.tier > Tier.T0 and program.box.ready_message.layers["processes"] != "watched":
        assert how == "value" and what <= limits.processes
    else:  # the watchdog may come before the last fork fails, where a cgroup makes it fail
        assert (how == "value" and what <= limits.processes) or what == "too many processes"


def test_threads_count_as_processes(program: Program, limits: Limits) -> None:
    program.load(
        """
        import threading, time
        threading.stack_size(1 << 18)  # stacks count as memory, which must not be what ends this
        def bomb():
            started = 0
            while started < 400:
                try:
                    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                except RuntimeError:
                    return started
                started += 1
            time.sleep(5)
            return started
        """
    )
    assert_bounded(program, limits)


@pytest.mark.parametrize("how", ["bytearray(2 << 30)", "[bytearray(16 << 20) for _ in range(128)]"])
def test_memory_bomb(program: Program, how: str) -> None:
    program.load(f"def bomb(): return len({how})")
    with pytest.raises((Raised, BoxDied), match=r"MemoryError|memory limit"):
        program.call("bomb", timeout_s=30)


SHARED_BOMB = """
import mmap, time
def bomb(mib):
    shared = mmap.mmap(-1, mib << 20)
    for offset in range(0, mib << 20, 4096):
        shared[offset] = 1
    time.sleep(5)
    return mib
"""


def test_shared_memory_counts(program: Program, limits: Limits) -> None:
    program.load(SHARED_BOMB)
    with pytest.raises(BoxDied, match="memory limit"):
        program.call("bomb", 2 * limits.memory_mib, timeout_s=30)


def test_memory_of_processes_counts_together(program: Program, limits: Limits) -> None:
    """The aggregate: a cgroup ends one of them at least, the watchdog ends the box; the sum never stands."""
    program.load(
        """
        import os, time
        def bomb(mib, count):
            children = []
            for _ in range(count):
                pid = os.fork()
                if pid == 0:
                    block = bytearray(os.urandom(1 << 20)) * mib
                    time.sleep(30)
                    os._exit(0)
                children.append(pid)
            ended, _ = os.waitpid(-1, 0)
            return ended in children
        """
    )
    assert program.attempt("bomb", limits.memory_mib * 3 // 4, 6) in [("value", True), ("died", "memory limit")]
    assert program.box.peak_memory_mib < 4 * limits.memory_mib


def test_memory_shared_with_children_counts_once(program: Program, limits: Limits) -> None:
    """Data loaders fork: four workers next to a large data set are honest work."""
    program.load(
        """
        import os, time
        def work(mib):
            data = bytearray(os.urandom(1 << 20)) * mib
            children = []
            for _ in range(4):
                pid = os.fork()
                if pid == 0:
                    time.sleep(0.5)
                    os._exit(data[5] * 0)
                children.append(pid)
            return [os.waitpid(pid, 0)[1] for pid in children]
        """
    )
    assert program.call("work", limits.memory_mib * 5 // 8) == [0, 0, 0, 0]


def test_one_large_file_is_refused(program: Program, limits: Limits) -> None:
    program.load(
        """
        def fill(mib):
            with open("large", "wb") as file:
                for _ in range(mib):
                    file.write(bytes(1 << 20))
                    file.flush()
        """
    )
    assert "OSError" in program.refuses("fill", 2 * limits.disk_mib)


def test_many_files_are_stopped(program: Program, limits: Limits) -> None:
    program.load(
        """
        import time
        def fill(count, kib):
            for index in range(count):
                with open(f"part-{index}", "wb") as file:
                    file.write(bytes(kib << 10))
            time.sleep(5)
        """
    )
    for count, kib in ((8 * limits.disk_mib, 512), (10_000, 0)):
        if not program.box.alive:
            break
        with pytest.raises((Raised, BoxDied), match=r"No space left|disk limit|too many files"):
            program.call("fill", count, kib, timeout_s=30)


@pytest.mark.parametrize("place", [".", "/dev/shm", "/tmp"])
def test_deep_folders_are_removed(program: Program, place: str) -> None:
    if program.tier is Tier.T0 and place != ".":
        pytest.skip("T0 does not tidy up what is not the box's own")
    program.load(
        f"""
        import os
        def dig(depth):
            try:
                os.mkdir("{place}/deep")
                os.chdir("{place}/deep")
            except OSError:
                return depth  # not a place of this box
            for _ in range(depth):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
            os.chmod(".", 0)
            return depth
        """
    )
    assert program.call("dig", 2000) == 2000


def test_output_flood_ends_box(program: Program) -> None:
    program.load("import os\ndef flood():\n    while True: os.write(1, b'x' * 65536)")
    with pytest.raises(BoxDied, match="too much output"):
        program.call("flood", timeout_s=30)


def test_output_is_kept_up_to_limit(program: Program, limits: Limits) -> None:
    program.load("import os\ndef speak(n):\n    for _ in range(n): os.write(2, b'y' * 1024)\n    return n")
    assert program.call("speak", 4 * limits.output_kib) == 4 * limits.output_kib
    assert program.box.printed() == b"y" * (limits.output_kib * 1024)


def test_processor_time_is_limited(fork_server: ForkServer) -> None:
    with fork_server.spawn(Limits(submission_s=0.6)) as box:
        program = Program(box, fork_server.tier)
        program.load("def burn():\n    while True: pass")
        with pytest.raises(BoxDied, match="processor time limit"):
            program.call("burn", timeout_s=20)
