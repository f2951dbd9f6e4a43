"""Tests marked `gpu`, from the command's wish to the score, on a machine whose GPU is a null device."""

import dataclasses
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, SECRET, Examined, best_tier, by_name, handed_in, statuses, write_course
from tests.support.gpu_machines import Machine
from viva.model import Tier
from viva.model.gpu import LEFT_OUT, NONE_HERE, Gpus, GpuUse
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.plain import gpus_from_plain, gpus_to_plain, score_from_plain, score_to_plain
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.gpu.gpu_lease import GpuLease, lock_file
from viva.sandbox.host.gpu.gpus import find_gpus

KEY = "def device():\n    return 'cuda'\n"
TESTS = '''\
import pytest
from viva.grading import agree, visibility, weight

@weight(1)
def test_before(student):
    """Asked without a GPU."""
    agree(student.sees(), False)


@weight(2)
@pytest.mark.gpu
def test_on_it(student):
    """Asked with one."""
    agree(student.sees(), True)
    agree(student.sees(), True)


@weight(4)
@pytest.mark.gpu(memory_mib=16_000)
def test_large(student):
    """Asked with one that is large enough."""
    agree(student.sees(), True)


@weight(8)
@pytest.mark.gpu(memory_mib=40_000)
def test_too_large(student):
    """Asked nowhere."""
    agree(student.sees(), True)


@weight(16)
@visibility("hidden")
@pytest.mark.gpu
def test_hidden(student):
    """Asked at the end."""
    agree(student.sees(), True)


@weight(32)
@visibility("hidden")
def test_after(student):
    """Asked without a GPU again."""
    agree(student.sees(), False)
'''
STUDENT = """\
import os

def sees():
    return os.path.exists(DEVICE) and bool(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""
LARGE = "Not graded yet: this test needs a GPU with 40,000 MiB of memory, and the one here, NVIDIA L4, has 23,034 MiB."


@pytest.fixture
def bus() -> Iterator[str]:
    """A place on the bus that no other test has, because the lock is the machine's."""
    made = f"{secrets.token_hex(2)}:{secrets.token_hex(1)}:00.0"
    yield made
    for path in Path("/tmp").glob(f"viva-gpu-{made.replace(':', '-')}.lock"):
        path.unlink()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the users of boxes may enter, as they must where there are no mounts."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def machine(open_folder: Path, bus: str, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One GPU, and an nvidia-smi that the examiner finds as well."""
    made = Machine(open_folder)
    made.add(bus, 7)
    monkeypatch.setenv("PATH", made.install_smi())
    return made


@pytest.fixture
def gpus(machine: Machine) -> Gpus:
    """The null device would fail its check, which has tests of its own."""
    return dataclasses.replace(find_gpus({}, machine.dev, machine.driver), checked=True)


def student(gpus: Gpus) -> str:
    """The program, which looks where a box of this host's tier has the device."""
    device = gpus.devices[0].device if best_tier() <= Tier.T1 else "/dev/nvidia7"
    return f"DEVICE = {device!r}\n{STUDENT}"


@pytest.fixture
def examined(tmp_path: Path, gpus: Gpus) -> Iterator[Examined]:
    made = Examined(write_course(tmp_path / "course", tests=TESTS, key=KEY, settings="device: cpu\n"))
    assignment = made.course.assignment(NAME)
    made.process = ExaminerProcess(made.course, assignment, SECRET, BoxOptions(best_tier(), gpus=gpus))
    yield made
    made.process.close()


ALL = {
    "test_before": "passed",
    "test_on_it": "passed",
    "test_large": "passed",
    "test_too_large": "deferred",
    "test_hidden": "passed",
    "test_after": "passed",
}


def test_only_tests_for_a_gpu_see_one(examined: Examined, gpus: Gpus) -> None:
    for _ in range(2):
        score = examined.score(student(gpus))
        assert statuses(score) == ALL
        assert (score.earned, score.still_open) == (55, 8)
        assert by_name(score)["test_too_large"].message == LARGE
        assert score.gpu is not None and score.gpu.peak_mib is not None
        assert dataclasses.replace(score.gpu, peak_mib=None) == GpuUse("NVIDIA L4", "550.90.07", 23034, None)
        assert lock_file(gpus.devices[0]).read_bytes() == b""
    assert score_from_plain(score_to_plain(score)).gpu == score.gpu
    assert examined.score(student(gpus), "test_before").gpu is None


@pytest.mark.long
def test_memory_that_is_not_given_back_defers_the_next_test(
    examined: Examined, gpus: Gpus, machine: Machine, bus: str
) -> None:
    lock_file(gpus.devices[0]).write_text(json.dumps({"baseline_mib": 4}), "utf-8")
    machine.use(bus, "9000")
    entry = by_name(examined.score(student(gpus), "test_on_it"))["test_on_it"]
    assert (entry.status, entry.earned) == ("deferred", 0)
    assert "still held the memory of an earlier program" in entry.message and "9,000" not in entry.message
    assert "has 9,000 MiB in use, and had 4 MiB before" in entry.staff_message
    machine.use(bus, "5")
    assert statuses(examined.score(student(gpus), "test_on_it")) == {"test_on_it": "passed"}


@pytest.mark.long
def test_waiting_for_others_is_told_and_costs_no_time(tmp_path: Path, gpus: Gpus) -> None:
    """Two examiners and one GPU: the submission's own time is shorter than the wait."""
    settings = "limits: {load_s: 2, call_s: 1, test_s: 1, submission_s: 2}\n"
    course = write_course(tmp_path / "course", tests=TESTS, key=KEY, settings=settings)
    held, told = GpuLease.take(gpus.devices), list[str]()

    def wait(line: str) -> None:
        told.extend([line] * ("NVIDIA" in line))  # a test beside this one that is asked alone is told as well
        if len(told) == 3:
            held.give_back()

    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), gpus=gpus)) as process:
        score = process.grade(GradeRequest(handed_in(student(gpus)), GradeOptions()), on_progress=wait).score
    assert statuses(score) == ALL
    assert told[0].startswith("waiting for NVIDIA L4, 1 s so far") and len(told) >= 3


def test_a_load_that_ends_the_box_with_a_gpu_costs_no_other_test(examined: Examined, gpus: Gpus) -> None:
    ends = "\nif sees():\n    os._exit(3)\n"
    score = examined.score(student(gpus) + ends)
    assert statuses(score) == ALL and any("was left out" in note for note in score.notes)
    score = examined.score(student(gpus) + 4 * ends)
    assert statuses(score) == {**ALL, "test_on_it": "error", "test_large": "error", "test_hidden": "error"}
    assert score.notes[-1] == "In a box with a GPU your submission could not be loaded: exit status 3"


@pytest.mark.parametrize("why", [LEFT_OUT, NONE_HERE])
def test_without_a_gpu_the_reason_is_told(tmp_path: Path, why: str) -> None:
    course = write_course(tmp_path / "course", tests=TESTS, key=KEY)
    with ExaminerProcess(
        course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), gpus=Gpus((), why))
    ) as process:
        score = process.grade(GradeRequest(handed_in("def sees(): return False\n"), GradeOptions())).score
    assert score.gpu is None and (score.earned, score.still_open) == (33, 30)
    assert {by_name(score)[name].message for name in ("test_on_it", "test_large", "test_hidden")} == {why}


def test_training_and_gpu_are_two_wishes(tmp_path: Path, gpus: Gpus) -> None:
    tests = TESTS.replace("@pytest.mark.gpu\ndef test_on_it", "@pytest.mark.gpu\n@pytest.mark.training\ndef test_on_it")
    course = write_course(tmp_path / "course", tests=tests, key=KEY)
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), gpus=gpus)) as process:
        for training, status in ((False, "deferred"), (True, "passed")):
            score = process.grade(
                GradeRequest(handed_in(student(gpus)), GradeOptions(only=("test_on_it",), training=training))
            ).score
            assert statuses(score) == {"test_on_it": status}


def test_what_is_offered_survives_the_way(gpus: Gpus) -> None:
    assert gpus_from_plain(json.loads(json.dumps(gpus_to_plain(gpus)))) == gpus
    assert gpus_from_plain(gpus_to_plain(Gpus())) == Gpus()


def test_two_examiners_use_two_gpus_at_once(tmp_path: Path, machine: Machine, bus: str) -> None:
    """While the first GPU is held by another program, the second one serves, and no one waits."""
    machine.add(f"{bus[:-1]}1", 8, "NVIDIA T4")
    gpus = dataclasses.replace(find_gpus({}, machine.dev, machine.driver), checked=True)
    course = write_course(tmp_path / "course", tests=TESTS, key=KEY)
    held, told = GpuLease.take(gpus.devices), list[str]()
    assert held.gpu == gpus.devices[0]
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), gpus=gpus)) as process:
        request = GradeRequest(handed_in("def sees(): return True\n"), GradeOptions(only=("test_on_it",)))
        score = process.grade(request, on_progress=told.append).score
    held.give_back()
    assert statuses(score) == {"test_on_it": "passed"} and score.gpu is not None and score.gpu.name == "NVIDIA T4"
    assert not any("waiting for" in line for line in told)
    lock_file(gpus.devices[1]).unlink()
