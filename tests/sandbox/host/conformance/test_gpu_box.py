"""A box that has a GPU may do what CUDA needs and no more; a box without one is what it was before there were any.

The device files lead to the null device: what the isolation layers allow is tested, not a driver.
"""

import dataclasses
import errno
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.host.conftest import SMALL, offered
from tests.support.boxed_program import Program
from tests.support.gpu_machines import Machine
from viva.model import Tier
from viva.model.gpu import Gpu
from viva.sandbox.guest.lockdown import clean_environment, landlock, rlimits
from viva.sandbox.guest.process import student_process
from viva.sandbox.guest.process.box_plan import BoxPlan
from viva.sandbox.guest.transport import control
from viva.sandbox.host.fork_server import ForkServer

LOOK = """
import fcntl, os, resource, stat, threading

def there(path):
    return os.path.exists(path)

def devices():
    return sorted(os.listdir("/dev"))

def size(path):
    assert not stat.S_ISCHR(os.stat(path).st_mode)
    return os.stat(path).st_size

def write(path):
    with open(path, "wb") as file:
        return file.write(b"x")

def ask(path):
    # TCGETS: the null device knows none, so that only an isolation layer returns something other than ENOTTY.
    with open(path, "rb") as file:
        try:
            fcntl.ioctl(file, 0x5401, bytes(64))
        except OSError as error:
            return error.errno

def name_a_thread():
    here = f"/proc/self/task/{threading.get_native_id()}/comm"
    with open(here, "w") as file:
        file.write("cuda")
    with open(here) as file:
        return file.read()

def limit(name):
    return resource.getrlimit(getattr(resource, name))[0]

def variable(name):
    return os.environ.get(name)

def buses():
    return os.path.isdir("/sys/bus/pci")
"""


@pytest.fixture
def gpus(open_path: Path) -> tuple[Gpu, ...]:
    """Two GPUs of a machine that is a folder."""
    machine = Machine(open_path)
    machine.add("0000:01:00.0", 0)
    machine.add("0000:02:00.0", 1)
    return machine.gpus().devices


def started(tier: Tier, gpus: tuple[Gpu, ...] = ()) -> ForkServer:
    paths = dict.fromkeys(path for gpu in gpus for path in (*gpu.shared, gpu.device))
    readable = [Path("/sys/bus/pci")] if gpus and Path("/sys/bus/pci").is_dir() else []
    return ForkServer.start(tier, preload=[], devices=[*paths], readable=readable)


@pytest.fixture(params=[tier for tier in offered() if tier > Tier.T0], ids=str)
def program(request: pytest.FixtureRequest, gpus: tuple[Gpu, ...]) -> Iterator[Program]:
    """A program in a box with the second GPU."""
    with started(request.param, gpus) as fork_server, fork_server.spawn(SMALL, gpu=gpus[1]) as box:
        made = Program(box, fork_server.tier)
        made.load(LOOK)
        yield made


def test_one_gpu_can_be_asked_and_no_other_device(program: Program, gpus: tuple[Gpu, ...]) -> None:
    for path in (*gpus[1].shared, gpus[1].device):
        seen = path if program.tier is Tier.T1 else f"/dev/{Path(path).name}"
        assert program.call("write", seen) == 1
        assert program.call("ask", seen) == errno.ENOTTY
    assert program.call("ask", "/dev/zero") == (errno.EACCES if landlock.abi() >= 5 else errno.ENOTTY)
    if program.tier is Tier.T1:
        if not Path(gpus[0].device).is_symlink():
            assert "PermissionError" in program.refuses("write", gpus[0].device)
        return
    assert "Error" in program.refuses("write", "/dev/nvidia0")
    assert program.call("size", "/dev/nvidia0") == 0  # the empty place where the other box sees its device


def test_threads_can_be_named_as_cuda_does(program: Program) -> None:
    assert program.call("name_a_thread") == "cuda\n"
    if landlock.abi():
        assert "PermissionError" in program.refuses("write", "/proc/self/oom_score_adj")


def test_address_space_is_free_and_memory_is_not(program: Program) -> None:
    data = program.call("limit", "RLIMIT_DATA")
    assert program.call("limit", "RLIMIT_AS") == resource.RLIM_INFINITY
    assert SMALL.memory_mib << 20 <= data < (SMALL.memory_mib + 1024) << 20
    hosts = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    assert program.call("limit", "RLIMIT_MEMLOCK") in (data, min(hosts, 8 << 20))  # only root in full may raise it


def test_cuda_is_told_which_gpu_to_use(program: Program, gpus: tuple[Gpu, ...]) -> None:
    assert program.call("variable", "CUDA_VISIBLE_DEVICES") == gpus[1].uuid
    assert program.call("buses") == Path("/sys/bus/pci").is_dir()


@pytest.mark.parametrize("tier", [tier for tier in offered() if tier > Tier.T0], ids=str)
def test_a_box_without_a_gpu_sees_none(tier: Tier, gpus: tuple[Gpu, ...]) -> None:
    usual = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    with started(tier) as fork_server, fork_server.spawn(SMALL) as box:
        plain = Program(box, tier)
        plain.load(LOOK)
        assert tier is Tier.T1 or plain.call("devices") == usual
        assert not landlock.abi() or "PermissionError" in plain.refuses("name_a_thread")
        assert plain.call("variable", "CUDA_VISIBLE_DEVICES") is None
        assert tier is Tier.T1 or not plain.call("buses")
        assert plain.call("limit", "RLIMIT_MEMLOCK") <= 8 << 20
        layers = {**box.ready_message.layers, "seccomp": ""}
    with started(tier, gpus) as fork_server, fork_server.spawn(SMALL, gpu=gpus[0]) as box:
        # Its filter is shorter: CUDA makes files in memory.
        assert {**box.ready_message.layers, "seccomp": ""} == layers and not box.ready_message.open_probes


def plan(tier: str, **policy: Any) -> BoxPlan:
    settings: Any = {**dataclasses.asdict(SMALL), "seed": 1, **policy}
    nothing: Any = {}
    return BoxPlan(
        tier, settings, 60001, "/box-engine", "/box", "/tmp", ["/usr"], [], nothing, nothing, landlock_abi=7,
    )  # fmt: skip


@pytest.mark.parametrize("tier", ["T1", "T2", "T3"])
def test_only_a_wish_for_a_gpu_changes_the_plan(tier: str) -> None:
    """Without one, limits, rules and environment are those of before; with one, exactly these differ."""
    without, given = plan(tier), plan(tier, gpu={"devices": ["/dev/nvidiactl", "/dev/nvidia3"], "visible": "GPU-3"})
    assert without.devices == [] and given.devices == ["/dev/nvidiactl", "/dev/nvidia3"]
    limits, more = (dict(rlimits.limits_for(p.policy, 5, 7)) for p in (without, given))
    assert limits["RLIMIT_AS"] > 0 and limits["RLIMIT_MEMLOCK"] == 8 << 20
    assert limits == {**more, "RLIMIT_AS": limits["RLIMIT_AS"]} and "RLIMIT_AS" not in more
    (rules, optional), (gpu_rules, gpu_optional) = student_process._rules(without), student_process._rules(given)
    assert gpu_rules == [*rules, ("/dev/nvidiactl", landlock.GPU), ("/dev/nvidia3", landlock.GPU)]
    assert gpu_optional[: len(optional)] == optional
    assert [path for path, rights in gpu_optional[len(optional) :] if rights & landlock.WRITE_FILE] == [
        "/proc/self/task"
    ]
    assert not any("nvidia" in path or path == "/proc/self/task" for path, _ in [*rules, *optional])
    assert clean_environment.for_gpu("GPU-3")["CUDA_VISIBLE_DEVICES"] == "GPU-3"
    assert "CUDA_VISIBLE_DEVICES" not in clean_environment.variables("/box", "/tmp") | clean_environment.for_gpu("")


def test_without_a_gpu_nothing_new_is_said_to_the_fork_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what it is started with nor what a box is asked for names a GPU."""
    said: list[dict[str, Any]] = []
    send = control.send

    def remember(channel: Any, message: dict[str, Any], descriptors: Any = ()) -> None:
        said.append(message)
        send(channel, message, descriptors)

    monkeypatch.setattr(control, "send", remember)
    with started(offered()[0]) as fork_server, fork_server.spawn(SMALL, seed=3):
        pass
    settings, request = said
    assert "devices" not in settings
    assert request["policy"] == {**dataclasses.asdict(SMALL), "seed": 3}
