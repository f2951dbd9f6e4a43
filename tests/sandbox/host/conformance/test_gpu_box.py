"""A box that has a GPU may do what CUDA needs and no more; a box without one is what it was before there were any.

The device files lead to the null device: what the isolation layers allow is tested, not a driver.
"""

import errno
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.host.conftest import SMALL, offered
from tests.support.boxed_program import Program
from tests.support.gpu_machines import Machine
from viva.sandbox.gpu import Gpu
from viva.sandbox.guest.lockdown import landlock
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.tier import Tier

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
def test_box_without_gpu_sees_none(tier: Tier, gpus: tuple[Gpu, ...]) -> None:
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
