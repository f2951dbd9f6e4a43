"""A GPU is checked before student code gets it: a torch for which the CPU is a GPU, with faults of each kind."""

import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.host.conftest import offered
from tests.support.boxed_program import Program
from tests.support.gpu_machines import Machine
from tests.support.stand_in_cuda import LEFT, StandIn
from viva.model.gpu import Gpus
from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.host.box import Box
from viva.sandbox.host.gpu import gpu_lease
from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes
from viva.sandbox.host.gpu.gpu_lease import lock_file
from viva.sandbox.limits import Limits

LIMITS = Limits(memory_mib=900)
STEPS = ["CUDA starts", "a product is the CPU's", "sums are repeatable", "memory is limited"]
LAST = "earlier memory is unreadable"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the users of boxes may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def machine(folder: Path) -> Machine:
    """Two GPUs."""
    made = Machine(folder / "machine")
    made.add("0000:01:00.0", 0)
    made.add("0000:02:00.0", 1)
    return made


@pytest.fixture(scope="module")
def stand_in(folder: Path) -> StandIn:
    return StandIn(folder / "environment")


@pytest.fixture
def gpus(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gpus:
    """Both GPUs, locked in a folder of the test's own."""
    monkeypatch.setenv("PATH", machine.install_smi())
    monkeypatch.setattr(gpu_lease, "_FOLDER", tmp_path)
    monkeypatch.setattr(secrets, "randbits", lambda bits: LEFT)
    return machine.gpus()


@pytest.fixture(scope="module")
def shared(machine: Machine, stand_in: StandIn) -> Iterator[GpuBoxes]:
    """One fork server that has imported torch, because that takes seconds."""
    gpus = machine.gpus()
    made = GpuBoxes.start(offered()[0], LIMITS, gpus, preload=["torch"], python=str(stand_in.python))
    yield made
    made.close()


@pytest.fixture
def boxes(shared: GpuBoxes, gpus: Gpus, stand_in: StandIn) -> GpuBoxes:
    """Boxes of GPUs without faults that nobody has checked yet."""
    stand_in.fail("")
    return GpuBoxes(shared._fork_server, LIMITS, gpus)


def test_sound_gpu_passes(boxes: GpuBoxes, gpus: Gpus) -> None:
    results = boxes.check(gpus.devices[0])
    assert [(one.step.name, one.problem, one.tried) for one in results] == [(n, "", True) for n in (*STEPS, LAST)]


@pytest.mark.parametrize(
    ("fault", "step", "problem"),
    [
        ("not built", STEPS[0], r"torch 2\S+ was built without CUDA"),
        ("no start", STEPS[0], "CUDA does not start: CUDA error: unknown error"),
        ("two", STEPS[0], "CUDA shows 2 GPUs, not the one of the sandbox"),
        ("raises", STEPS[0], "the check raised LookupError: no such card"),
        ("ends", STEPS[0], "the sandbox of the check ended: exit status 3"),
        ("wrong", STEPS[1], r"a product of two matrices differs from the CPU's by up to 0\.5"),
        ("random", STEPS[2], "the same sums give other bits each time"),
        ("unlimited", STEPS[3], "more memory of the GPU could be taken than its 320 MiB"),
        ("leaks", LAST, "a sandbox can read what the one before it left in the memory of the GPU"),
    ],
)
def test_gpu_fault_with_advice(
    boxes: GpuBoxes, gpus: Gpus, stand_in: StandIn, fault: str, step: str, problem: str
) -> None:
    stand_in.fail(fault)
    results = boxes.check(gpus.devices[0])
    failed = [result for result in results if result.problem]
    assert [result.step.name for result in failed] == [step]
    assert [result.tried for result in results] == [n <= [*STEPS, LAST].index(step) for n in range(5)]
    assert failed[0].sentence.startswith(failed[0].problem) and failed[0].sentence.endswith(failed[0].step.advice)
    assert re.fullmatch(problem, failed[0].problem), failed[0].problem


def test_failing_gpu_serves_no_box(boxes: GpuBoxes, stand_in: StandIn) -> None:
    stand_in.fail("wrong")
    with pytest.raises(BoxUnavailable, match=r"NVIDIA L4 \(0000:01:00.0\) failed its check: a product of two matrices"):
        boxes.take(0, lambda _: None)


def test_other_gpu_replaces_failing_one(boxes: GpuBoxes, gpus: Gpus, stand_in: StandIn) -> None:
    stand_in.fail("no start")
    boxes.check(gpus.devices[0])
    stand_in.fail("")
    box, use = boxes.take(0, lambda _: None)
    box.close()
    assert boxes._last == gpus.devices[1] and use().name == "NVIDIA L4"


def test_gpu_is_checked_again_when_doubted(boxes: GpuBoxes, stand_in: StandIn) -> None:
    for _ in range(2):
        box, _use = boxes.take(0, lambda _: None)
        box.close()
        stand_in.fail("no start")  # it dies after its first box, which the second take does not notice
    with pytest.raises(BoxUnavailable, match="failed its check: CUDA does not start"):
        boxes.check_last()
    stand_in.fail("")
    with pytest.raises(BoxUnavailable, match="CUDA does not start"):
        boxes.check_last()


def test_gpu_that_cannot_be_checked_again(boxes: GpuBoxes, gpus: Gpus, machine: Machine) -> None:
    """The memory of the box that has ended is not free: the program may not be at fault."""
    box, _ = boxes.take(0, lambda _: None)
    box.close()
    lock_file(gpus.devices[0]).write_text('{"baseline_mib": 4}', "utf-8")
    machine.use("0000:01:00.0", "9000")
    free = gpu_lease._free
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_lease, "_free", lambda gpu, baseline_mib, _: free(gpu, baseline_mib, 0.0))
        with pytest.raises(BoxUnavailable, match=r"could not be checked: NVIDIA L4 .* has 9,000 MiB in use"):
            boxes.check_last()
    machine.use("0000:01:00.0", "4")
    boxes.check_last()


def test_impossible_check_is_made_later(boxes: GpuBoxes, gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    one = GpuBoxes(boxes._fork_server, LIMITS, replace(gpus, devices=gpus.devices[:1]))

    def spawn(*_: object, **__: object) -> Box:
        raise BoxUnavailable("no process could be started")

    with monkeypatch.context() as patch:
        patch.setattr(boxes._fork_server, "spawn", spawn)
        with pytest.raises(BoxUnavailable, match="no process could be started"):
            one.take(0, lambda _: None)
    box, _ = one.take(0, lambda _: None)
    box.close()


def test_checked_gpus_are_not_checked(boxes: GpuBoxes, gpus: Gpus, stand_in: StandIn) -> None:
    stand_in.fail("wrong")
    known = GpuBoxes(boxes._fork_server, LIMITS, replace(gpus, checked=True))
    box, _ = known.take(0, lambda _: None)
    box.close()
    known.check_last()


SUMS = """
import torch
def mode(): return torch.get_deterministic_debug_mode()
def change(): torch.use_deterministic_algorithms(False)
def variable():
    import os
    return os.environ["CUBLAS_WORKSPACE_CONFIG"]
"""


@pytest.mark.parametrize("deterministic", [True, False])
def test_torch_is_deterministic_by_default(boxes: GpuBoxes, gpus: Gpus, deterministic: bool) -> None:
    box, _ = GpuBoxes(boxes._fork_server, LIMITS, replace(gpus, checked=True)).take(
        0, lambda _: None, deterministic=deterministic
    )
    with box:
        program = Program(box, offered()[0])
        program.load(SUMS, timeout_s=60)
        wanted = 2 if deterministic else 0
        assert program.call("mode") == wanted
        assert program.call("variable") == ":4096:8"
        program.call("change", timeout_s=60)
        again = {"space": "student", "name": "mode", "args": [], "kwargs": {}, "keep": False, "full": False, "seed": 5}
        assert box.ask("call", timeout_s=60, **again)["ok"] == wanted


def test_preloaded_libraries_do_not_start_cuda(boxes: GpuBoxes, gpus: Gpus, stand_in: StandIn) -> None:
    """They ask whether there is a GPU; torch answers without CUDA where this variable says so, and boxes lack it."""
    box, _ = GpuBoxes(boxes._fork_server, LIMITS, replace(gpus, checked=True)).take(0, lambda _: None)
    with box:
        program = Program(box, offered()[0])
        program.load(
            "import os, stand_in_torch\ndef seen(): return stand_in_torch.WHILE_IMPORTED\n"
            "def now(): return os.environ.get('PYTORCH_NVML_BASED_CUDA_CHECK')"
        )
        assert (program.call("seen"), program.call("now")) == ("1", None)


def test_without_torch_nothing_is_tried(gpus: Gpus, folder: Path) -> None:
    """An assignment that uses another library cannot be checked with torch, and is graded."""
    bare = StandIn(folder / "bare", torch=False)
    boxes = GpuBoxes.start(offered()[0], LIMITS, gpus, preload=[], python=str(bare.python))
    try:
        assert not any(result.tried or result.problem for result in boxes.check(gpus.devices[0]))
        box, _ = boxes.take(0, lambda _: None)
        box.close()
    finally:
        boxes.close()
