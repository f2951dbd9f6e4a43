"""How much a box may store, and that what it stored, made or mounted is gone with it."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.support.boxed_program import Program, Raised, from_tier
from viva.sandbox.errors import BoxDied
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.guest.transport.wire import Ref
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.limits import processes
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

pytestmark = pytest.mark.long

FILL = """
import os, tempfile, time
def fill(place, mib):
    folder = {"work": os.getcwd(), "temporary": tempfile.gettempdir(), "shared": "/dev/shm"}[place]
    for index in range(mib):
        with open(os.path.join(folder, f"part-{index}"), "wb") as file:
            file.write(bytes(1 << 20))
    time.sleep(5)
"""


@pytest.mark.parametrize("place", ["work", "temporary"])
def test_each_folder_has_its_own_share_of_disk(program: Program, limits: Limits, place: str) -> None:
    program.load(FILL)
    with pytest.raises((Raised, BoxDied), match=r"No space left|disk limit"):
        program.call("fill", place, 3 * limits.disk_mib, timeout_s=30)


@from_tier(Tier.T1)
def test_shared_memory_files_are_bounded(program: Program, limits: Limits) -> None:
    """By the size of the mount, where there is one; where there is none, they are the user's and go with it."""
    program.load(FILL)
    if program.tier >= Tier.T2:
        assert "No space left" in program.refuses("fill", "shared", 2 * limits.disk_mib)
    else:
        program.attempt("fill", "shared", 2)
        uid = program.box.resources.uid
        assert uid is not None
        program.box.close()
        assert [entry.name for entry in os.scandir("/dev/shm") if entry.stat().st_uid == uid.uid] == []


def cgroups_of(program: Program) -> list[str]:
    """The folders of its cgroups; none where the watchdog takes their place."""
    cgroup = program.box.resources.cgroup
    return cgroup._all if cgroup else []


def snapshot(disks: Path) -> dict[str, set[str]]:
    """What of viva a host shows: mounts, cgroups, folders; not what other tests mount meanwhile below `disks`."""
    ours = f"{FOLDER_PREFIX}{os.getpid()}-"
    walked = os.walk("/sys/fs/cgroup")  # it passes over what other processes remove meanwhile
    cgroups = {
        f"{parent}/{name}" for parent, names, _ in walked if Path(parent).name.startswith(ours) for name in names
    }
    folders = {str(path) for place in ("/dev/shm", tempfile.gettempdir()) for path in Path(place).glob(f"{ours}*/*")}
    shown = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    mounts = {mount for mount in shown if not Path(mount).is_relative_to(disks)}
    return {"mounts": mounts, "cgroups": cgroups, "folders": {folder for folder in folders if folder[-1].isdigit()}}


def test_nothing_is_left_on_host(
    fork_server: ForkServer, limits: Limits, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Not even while it lives does it show a mount; afterwards no cgroup, folder, process or queue is left."""
    disks = tmp_path_factory.getbasetemp().parent  # of this pytest process and of parallel ones
    before = snapshot(disks)
    with fork_server.spawn(limits) as box:
        program = Program(box, fork_server.tier)
        program.load(FILL)
        program.attempt("fill", "work", 1)
        family = processes.family(box.resources.first)
        during = snapshot(disks)
        assert during["mounts"] == before["mounts"]
        cgroups = cgroups_of(program)
        assert all(Path(folder).is_dir() for folder in cgroups)
        assert set(cgroups) <= during["cgroups"]  # so that it would be seen if one was left
    assert [pid for pid in family if processes.tasks([pid])] == []
    after = snapshot(disks)
    assert {name: after[name] - before[name] for name in after} == {name: set() for name in after}
    assert not any(Path(folder).exists() for folder in cgroups)


def test_box_out_of_memory_leaves_nothing(program: Program, limits: Limits) -> None:
    program.load(
        """
        import mmap, os, time
        def bomb(mib):
            for _ in range(3):
                if os.fork() == 0:
                    break
            shared = mmap.mmap(-1, mib << 20)
            for offset in range(0, mib << 20, 4096):
                shared[offset] = 1
            time.sleep(5)
        """
    )
    with pytest.raises(BoxDied, match="memory limit"):
        program.call("bomb", limits.memory_mib, timeout_s=30)
    cgroups = cgroups_of(program)
    program.box.close()
    assert not any(Path(folder).exists() for folder in cgroups)


def test_memory_peak_is_told(program: Program, limits: Limits) -> None:
    program.load("import os\ndef hold(mib): return len(bytearray(os.urandom(1 << 20)) * mib)")
    program.call("hold", limits.memory_mib // 2)
    if program.box.resources.cgroup:
        assert limits.memory_mib // 2 <= program.box.peak_memory_mib <= limits.memory_mib


ANSWERS = [
    ("[0] * 1_100_000", "items"),
    ("'x' * (9 << 20)", "text"),
    ("[numpy.zeros(2000) for _ in range(5000)]", "arrays"),
]


@pytest.mark.parametrize(("answer", "what"), ANSWERS, ids=[what for _, what in ANSWERS])
def test_too_large_answer(program: Program, answer: str, what: str) -> None:
    program.load(f"import numpy\ndef answer(): return {answer}\ndef small(): return 1")
    how, said = program.attempt("answer")
    assert how == "raised" and "too large" in said
    assert program.call("small") == 1


def test_deep_answer_stays_in_box(program: Program) -> None:
    program.load(
        """
        def nest(levels):
            found = []
            for _ in range(levels):
                found = [found]
            return found
        """
    )
    value, levels = program.call("nest", 60), 0
    while isinstance(value, list):
        value, levels = value[0], levels + 1
    assert levels <= 40 and isinstance(value, Ref) and value.type_name == "list"
