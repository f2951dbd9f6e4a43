"""Memory that no process shows: in sockets, in files without a name, in files in memory; and hiding from the count."""

import pytest

from tests.support.boxed_program import Program, Raised, from_tier
from viva.sandbox.errors import BoxDied
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

pytestmark = pytest.mark.long

SOCKETS = """
import os, socket, time
def fill_one():
    held, total = [], 0
    while True:
        try:
            pair = socket.socketpair()
        except OSError:
            return total
        held.append(pair)
        for end in pair:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            end.setblocking(False)
            try:
                while True:
                    total += end.send(bytes(1 << 16))
            except BlockingIOError:
                pass
def fill(count):
    reader, writer = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            os.write(writer, fill_one().to_bytes(8, "little"))
            time.sleep(60)
            os._exit(0)
    os.close(writer)
    total = 0
    for _ in range(count):
        part = os.read(reader, 8)
        total += int.from_bytes(part, "little")
    time.sleep(5)
    return total
"""


@from_tier(Tier.T1)
def test_what_sockets_hold_counts_as_memory(program: Program, limits: Limits) -> None:
    """Nine processes once held 1 GiB in them; a cgroup ends one of the nine, the watchdog the box."""
    program.load(SOCKETS)
    how, what = program.attempt("fill", 9, timeout_s=60)
    assert (how, what) == ("died", "memory limit") or what < limits.memory_mib << 20


UNNAMED = """
import mmap, os, time
held = []
def fill(place, count, mib, how):
    for index in range(count):
        path = os.path.join(place, f"gone-{index}")
        with open(path, "w+b", buffering=0) as file:
            os.unlink(path)
            for _ in range(mib):
                file.write(bytes(1 << 20))
            held.append(os.dup(file.fileno()) if how == "open" else mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
            if how == "sent":
                held.pop()
    time.sleep(5)
    return count * mib
"""


@from_tier(Tier.T1)
@pytest.mark.parametrize("place", [".", "/tmp", "/dev/shm"])
@pytest.mark.parametrize("how", ["open", "mapped"])
def test_nameless_files_count(program: Program, limits: Limits, place: str, how: str) -> None:
    """Each is below the limit of one file; python's mmap keeps a descriptor, so `mapped` holds both."""
    program.load(UNNAMED)
    with pytest.raises((Raised, BoxDied), match=r"No space left|Permission denied|disk limit|memory limit"):
        program.call("fill", place, 16, limits.disk_mib // 2, how, timeout_s=30)


def test_memory_of_files_and_processes_counts_together(program: Program, limits: Limits) -> None:
    """A file in memory that is also mapped counts once: data loaders pass arrays so."""
    program.load(
        """
        import mmap, time
        def share(mib):
            with open("part", "w+b") as file:
                file.truncate(mib << 20)
                block = mmap.mmap(file.fileno(), 0)
            for offset in range(0, mib << 20, 4096):
                block[offset] = 1
            time.sleep(1.5)
            return mib
        """
    )
    assert program.call("share", limits.disk_mib - 1) == limits.disk_mib - 1


@from_tier(Tier.T1)
def test_no_process_hides_from_the_count(program: Program) -> None:
    """A program that may be executed but not read cannot be looked into, in a tier where that is needed."""
    program.load(
        """
        import shutil, subprocess, time
        def hide():
            shutil.copyfile("/bin/sleep", "hidden")
            import os
            os.chmod("hidden", 0o100)
            child = subprocess.Popen(["./hidden", "30"])
            time.sleep(4)
            return child.poll()
        """
    )
    how, what = program.attempt("hide")
    if how == "raised":  # Docker's /dev/shm, where T1 keeps its folders, holds no programs at all
        assert "Permission denied" in what and program.tier is Tier.T1
        return
    if "cgroup" in program.box.ready_message.layers:
        assert how == "value"
    else:
        assert (how, what) == ("died", "a process that cannot be looked into")
