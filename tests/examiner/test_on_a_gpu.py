"""Tests marked `gpu`, from the command's wish to the score, on a machine whose GPU is a null device; `device: cpu`."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, best_tier, by_name, handed_in, statuses, write_course
from tests.support.gpu_machines import Machine, machine_with_gpu
from tests.support.words_course import notebook
from viva.model import Tier
from viva.model.gpu import Gpus, GpuUse
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.plain import from_plain, to_plain
from viva.model.score import Score
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.gpu.gpu_lease import GpuLease, lock_file

KEY = "def device():\n    return 'cuda'\n"
TESTS = """\
import pytest
from viva.grading import agree, visibility, weight

@weight(1)
def test_before(student):
    agree(student.sees(), False)

@weight(2)
@pytest.mark.gpu
def test_on_it(student):
    agree(student.sees(), True)
    agree(student.sees(), True)

@weight(4)
@pytest.mark.gpu(memory_mib=16_000)
def test_large(student):
    agree(student.sees(), True)

@weight(8)
@pytest.mark.gpu(memory_mib=40_000)
def test_too_large(student):
    agree(student.sees(), True)

@weight(16)
@visibility("hidden")
@pytest.mark.gpu
def test_hidden(student):
    agree(student.sees(), True)

@weight(32)
@visibility("hidden")
def test_after(student):
    agree(student.sees(), False)
"""
STUDENT = """\
import os

def sees():
    return os.path.exists(DEVICE) and bool(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""
LARGE = "Not graded yet: this test needs a GPU with 40,000 MiB of memory, and the one here, NVIDIA L4, has 23,034 MiB."


@pytest.fixture
def machine_and_bus() -> Iterator[tuple[Machine, str]]:
    with machine_with_gpu() as machine_and_bus:
        yield machine_and_bus


@pytest.fixture
def gpus(machine_and_bus: tuple[Machine, str]) -> Gpus:
    return sound(machine_and_bus[0])


def sound(machine: Machine) -> Gpus:
    """The null devices would fail their check, which has tests of its own."""
    return dataclasses.replace(machine.gpus(), checked=True)


def course_with(root: Path, gpus: Gpus, *, tests: str = TESTS, settings: str = "device: cpu\n") -> Examined:
    """An examiner that is lent these GPUs."""
    return Examined(write_course(root, tests=tests, key=KEY, settings=settings), BoxOptions(best_tier(), gpus=gpus))


@pytest.fixture
def examined(tmp_path: Path, gpus: Gpus) -> Iterator[Examined]:
    with course_with(tmp_path / "course", gpus) as examiner:
        yield examiner


def student(gpus: Gpus) -> str:
    """The program, which looks where a box of this host's tier has the device."""
    device = gpus.devices[0].device if best_tier() <= Tier.T1 else "/dev/nvidia7"
    return f"DEVICE = {device!r}\n{STUDENT}"


ALL = {
    "test_before": "passed",
    "test_on_it": "passed",
    "test_large": "passed",
    "test_too_large": "deferred",
    "test_hidden": "passed",
    "test_after": "passed",
}


def test_only_gpu_tests_see_gpu(examined: Examined, gpus: Gpus) -> None:
    for _ in range(2):
        score = examined.score(student(gpus))
        assert statuses(score) == ALL
        assert score.earned == 55 and score.still_open == 8
        assert by_name(score)["test_too_large"].message == LARGE
        assert score.gpu is not None and score.gpu.peak_mib is not None
        assert dataclasses.replace(score.gpu, peak_mib=None) == GpuUse("NVIDIA L4", "550.90.07", 23034, None)
        assert lock_file(gpus.devices[0]).read_bytes() == b""
    assert from_plain(Score, to_plain(score)).gpu == score.gpu
    assert examined.score(student(gpus), "test_before").gpu is None


@pytest.mark.long
def test_gpu_memory_in_use_defers_test(examined: Examined, gpus: Gpus, machine_and_bus: tuple[Machine, str]) -> None:
    machine, bus = machine_and_bus
    lock_file(gpus.devices[0]).write_text(json.dumps({"baseline_mib": 4}), "utf-8")
    machine.use(bus, "9000")
    entry = by_name(examined.score(student(gpus), "test_on_it"))["test_on_it"]
    assert entry.status == "deferred" and entry.earned == 0
    assert "still held the memory of an earlier program" in entry.message and "9,000" not in entry.message
    assert "has 9,000 MiB in use, and had 4 MiB before" in entry.staff_message
    machine.use(bus, "5")
    assert statuses(examined.score(student(gpus), "test_on_it")) == {"test_on_it": "passed"}


@pytest.mark.long
def test_gpu_wait_costs_no_time(tmp_path: Path, gpus: Gpus) -> None:
    """Two examiners and one GPU: the submission's own time is shorter than the wait."""
    settings = "limits: {load_s: 2, call_s: 1, test_s: 1, submission_s: 2}\n"
    held, told = GpuLease.take(gpus.devices), list[str]()

    def wait(line: str) -> None:
        told.extend([line] * ("NVIDIA" in line))  # a test beside this one that is asked alone is told as well
        if len(told) == 3:
            held.give_back()

    with course_with(tmp_path / "course", gpus, settings=settings) as examined:
        score = examined.process.grade(GradeRequest(handed_in(student(gpus))), on_progress=wait).score
    assert statuses(score) == ALL
    assert told[0].startswith("waiting for NVIDIA L4, 1 s so far") and len(told) >= 3


def test_gpu_load_that_ends_box(examined: Examined, gpus: Gpus) -> None:
    ends = "\nif sees():\n    os._exit(3)\n"
    score = examined.score(student(gpus) + ends)
    assert statuses(score) == ALL and any("was left out" in note for note in score.notes)
    score = examined.score(student(gpus) + 4 * ends)
    assert statuses(score) == {**ALL, "test_on_it": "error", "test_large": "error", "test_hidden": "error"}
    assert score.notes[-1] == "In a box with a GPU your submission could not be loaded: exit status 3"


def test_gpu_and_training_options(tmp_path: Path, gpus: Gpus) -> None:
    tests = TESTS.replace("@pytest.mark.gpu\ndef test_on_it", "@pytest.mark.gpu\n@pytest.mark.training\ndef test_on_it")
    with course_with(tmp_path / "course", gpus, tests=tests) as examined:
        for training, status in ((False, "deferred"), (True, "passed")):
            options = GradeOptions(only=("test_on_it",), training=training)
            assert statuses(examined.grade(student(gpus), options).score) == {"test_on_it": status}


def test_two_gpus_for_two_examiners(tmp_path: Path, machine_and_bus: tuple[Machine, str]) -> None:
    """While the first GPU is held by another program, the second one serves, and no one waits."""
    machine, bus = machine_and_bus
    machine.add(f"{bus[:-1]}1", 8, "NVIDIA T4")
    gpus = sound(machine)
    held, told = GpuLease.take(gpus.devices), list[str]()
    assert held.gpu == gpus.devices[0]
    with course_with(tmp_path / "course", gpus, settings="") as examined:
        request = GradeRequest(handed_in("def sees(): return True\n"), GradeOptions(only=("test_on_it",)))
        score = examined.process.grade(request, on_progress=told.append).score
    held.give_back()
    assert statuses(score) == {"test_on_it": "passed"} and score.gpu is not None and score.gpu.name == "NVIDIA T4"
    assert not any("waiting for" in line for line in told)


BERT_TESTS = """
def test_vector(student):
    assert student.vector([1, 2, 3]).shape == (16,)

def test_where(student):
    assert student.where() == "cpu"
"""
BERT = """
import torch
from transformers import BertConfig, BertModel

device = torch.device("cuda:0")
config = BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                    max_position_embeddings=8)
model = BertModel(config).to("cuda").eval()


def vector(ids):
    batch = {"input_ids": torch.tensor([ids], device=device), "attention_mask": torch.ones(1, len(ids)).cuda()}
    return model(**batch).last_hidden_state[0, 0].to("cuda")


def where():
    return model.device.type
"""


@pytest.mark.long
@pytest.mark.parametrize("device", ["cpu", "as_written"])
def test_model_on_accelerator(device: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = f"device: {device}\nlimits: {{call_s: 20, load_s: 30}}\n"
    root = tmp_path_factory.mktemp(f"device_{device}")
    with Examined(
        write_course(root, tests=BERT_TESTS, key="", settings=settings, preload="torch, transformers")
    ) as examined:
        for files in ({"solution.py": BERT}, {"hw.ipynb": notebook(*BERT.split("\n\n\n"))}):
            score = examined.score(files)
            passed = [status == "passed" for status in statuses(score).values()]
            assert passed == [device == "cpu"] * 2, score.notes
