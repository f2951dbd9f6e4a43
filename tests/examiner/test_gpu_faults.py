"""A GPU that does not work is the grader's fault, whenever that shows; a wrong answer on one that works is not."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, best_tier, by_name, statuses, write_course
from tests.support.gpu_machines import machine_with_gpu
from tests.support.stand_in_cuda import StandIn
from viva.formats.results_json import results_of
from viva.model import Status
from viva.pipeline.process.settings import BoxOptions

TESTS = """\
import pathlib
import pytest
from viva.grading import agree, weight

@weight(1)
def test_without(student):
    agree(student.two(), 2)

@weight(2)
@pytest.mark.gpu
def test_on_it(student):
    agree(student.two(), 2)

@weight(4)
@pytest.mark.gpu
def test_while_it_dies(student):
    agree(student.two(), 2)
    pathlib.Path(FAULT).write_text("no start", "utf-8")
    agree(student.start(), 2)

@weight(8)
@pytest.mark.gpu(nondeterministic="the sums of the answer are in any order")
def test_modes(student):
    agree(student.mode(), 0)
"""
STUDENT = """\
import torch

def two():
    return 2

def mode():
    return torch.get_deterministic_debug_mode()

def start():
    torch.cuda.init()
    return 2
"""


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandIn]:
    """An environment whose torch takes the CPU for a GPU, in a folder that the users of boxes may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield StandIn(folder / "environment")
    shutil.rmtree(folder)


@pytest.fixture
def examined(tmp_path: Path, stand_in: StandIn) -> Iterator[Examined]:
    stand_in.fail("")
    settings = f"python: {stand_in.python}\nlimits: {{memory_mib: 900, call_s: 20}}\n"
    tests = f"FAULT = {str(stand_in.fault)!r}\n{TESTS}"
    course = write_course(tmp_path / "course", tests=tests, key="", settings=settings, preload="numpy, torch")
    with (
        machine_with_gpu() as (machine, _),
        Examined(course, BoxOptions(best_tier(), gpus=machine.gpus())) as examiner,
    ):
        yield examiner


def test_gpu_failing_check_costs_no_point(examined: Examined, stand_in: StandIn) -> None:
    stand_in.fail("wrong")
    score = examined.score(STUDENT)
    assert statuses(score) == {
        "test_without": "passed", "test_on_it": "grader_error", "test_while_it_dies": "grader_error",
        "test_modes": "grader_error",
    }  # fmt: skip
    assert score.earned == 1 and score.still_open == 14
    entry = by_name(score)["test_on_it"]
    assert "failed its check: a product of two matrices differs" in entry.staff_message
    assert "matrices" not in entry.message


def test_gpu_dying_meanwhile_costs_no_point(examined: Examined) -> None:
    score = examined.score(STUDENT, "test_on_it", "test_while_it_dies", "test_modes")
    assert statuses(score) == {
        "test_on_it": "passed", "test_while_it_dies": "grader_error", "test_modes": "grader_error",
    }  # fmt: skip
    assert "CUDA does not start" in by_name(score)["test_while_it_dies"].staff_message


def test_wrong_answer_on_sound_gpu(examined: Examined) -> None:
    score = examined.score(STUDENT.replace("return 2\n\ndef mode", "return 3\n\ndef mode"), "test_on_it", "test_modes")
    assert statuses(score) == {"test_on_it": "failed", "test_modes": "passed"}


def test_unrepeatable_operation_needs_review(examined: Examined) -> None:
    message = "cumsum_cuda_kernel does not have a deterministic implementation, but you set ..."
    text = STUDENT.replace("    return 2\n\ndef mode", f"    raise RuntimeError({message!r})\n\ndef mode")
    score = examined.score(text, "test_without", "test_on_it")
    entry = by_name(score)["test_on_it"]
    assert entry.status is Status.NEEDS_REVIEW and score.still_open == 2
    assert entry.message == (
        "Not graded yet: a person decides this test.\nThe reason: the code uses an operation of torch whose result on "
        "a GPU cannot be repeated exactly, which this test forbids."
    )
    assert by_name(score)["test_without"].status is Status.ERROR
    written = {test.extra_data.test_id.partition("::")[2]: test for test in results_of(score, staff=False).tests}
    test = written["test_on_it"]
    assert test.score is None and test.extra_data.rubric is None and "a person decides this test" in test.output
