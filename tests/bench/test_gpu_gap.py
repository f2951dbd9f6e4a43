"""What training reaches on a GPU is compared with what it reaches on the CPU; the GPU is a null device."""

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from bench.gpu_gap import measure
from tests.support.course_of_texts import NAME, SECRET, best_tier, write_course
from tests.support.gpu_machines import Machine
from viva.config import Course
from viva.model import Entry, Isolation, Score, Status, Submission
from viva.model.gpu import Gpus
from viva.plugins.verify.expected_verdicts import ExampleSubmission
from viva.plugins.verify.verdict_check import complaints, waits

TESTS = '''\
import pytest
from viva.grading import agree, weight
from viva.plugins import training

@weight(1)
def test_plain(student):
    """Trains nothing."""
    agree(student.on_gpu(), False)


@weight(2)
@pytest.mark.training
def test_it_learns(student):
    """Trains, anywhere."""
    enough = training.Threshold("loss", 5.0, "at most", (), {}, "")  # met from the beginning
    epochs = training.epochs(2, budget_s=60, curve=False, until={"loss": enough})
    for epoch in epochs:
        epoch.record(loss=student.loss(epoch.number - 1))
    training.draw("loss", epochs.values("loss"), {2: 1.0})
    assert epochs.last("loss") <= 1.0, "The loss is too large."


@weight(4)
@pytest.mark.gpu
def test_apart(student):
    """Only on a GPU."""
    agree(student.on_gpu(), True)
    training.draw("apart", [0.001])
'''
STUDENT = """\
import os

def on_gpu():
    return bool(os.environ.get("CUDA_VISIBLE_DEVICES"))

def loss(epoch):
    return 2 - epoch - BETTER + APART * on_gpu()
"""


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpus]:
    """One GPU, and an nvidia-smi that the examiner finds as well."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    bus = f"{secrets.token_hex(2)}:{secrets.token_hex(1)}:00.0"
    machine = Machine(folder)
    machine.add(bus, 5)
    monkeypatch.setenv("PATH", machine.install_smi())
    yield replace(machine.gpus(), checked=True)
    shutil.rmtree(folder)
    Path(f"/tmp/viva-gpu-{bus.replace(':', '-')}.lock").unlink(missing_ok=True)


def course_with(root: Path, **submissions: str) -> Course:
    """A course whose accepted submissions are the program with these values for its two numbers."""
    course = write_course(root, tests=TESTS, key=f"BETTER, APART = 0.5, 0.25\n{STUDENT}")
    for name, values in submissions.items():
        folder = root / "fixtures" / NAME / "submissions" / "accepted" / name
        folder.mkdir(parents=True)
        (folder / "solution.py").write_text(f"BETTER, APART = {values}\n{STUDENT}", "utf-8")
    return course


def test_gaps_and_verdicts(tmp_path: Path, gpus: Gpus) -> None:
    course = course_with(tmp_path / "course", near="0.25, 0.125", far="0.25, 0.5")
    steps: list[tuple[int, int]] = []
    gap = measure(course, course.assignment(NAME), best_tier(), SECRET, gpus, lambda *step: steps.append(step))
    assert (gap.submissions, gap.tests, steps) == (3, 3, [(1, 3), (2, 3), (3, 3)])
    found = {(one.submission, one.name): (one.cpu, one.gpu, one.margin, one.largest) for one in gap.curves}
    assert found["accepted/near", "loss"] == ((1.75, 0.75), (1.875, 0.875), 0.25, 0.125)
    assert found["accepted/near", "apart"] == ((), (0.001,), None, None)
    assert [(v.submission, v.cpu, v.gpu, v.message) for v in gap.verdicts] == [
        ("accepted/far", "passed", "failed", "The loss is too large.")
    ]
    first, verdict, margin = gap.lines()
    assert first == (
        f"{NAME}: on NVIDIA L4, 2 of 3 verdicts of 3 example submissions are those of the CPU; "
        "values differ by up to 0.5."
    )
    assert verdict.endswith("failed on the GPU, passed on the CPU: The loss is too large.")
    assert "accepted/far, loss: differs by up to 0.5 on the GPU" in margin and not gap.holds
    gap.write(tmp_path / "new" / "gap.json")
    written = json.loads((tmp_path / "new" / "gap.json").read_text("utf-8"))
    assert written["gpu"]["name"] == "NVIDIA L4" and len(written["curves"]) == 6


@pytest.mark.parametrize(
    ("status", "rubric", "is_open"),
    [(Status.NEEDS_REVIEW, "", True), (Status.DEFERRED, "", True), (Status.NEEDS_REVIEW, "2.1", False)],
)
def test_verdict_waits_for_a_person(status: Status, rubric: str, is_open: bool) -> None:
    """A test that rests on a guess has not passed, although it must fail."""
    one = Fraction(1)
    entry = Entry("test_a.py::test_it", "It", "1", "visible", status, Fraction(0), one, (), rubric=rubric)
    score = Score("s", "h", "a", 1, (entry,), (), Isolation("T1"), {})
    example = ExampleSubmission("wrong/one", "wrong", Submission("one", (), ""), failing=("test_it",))
    assert waits(example, score) is is_open
    assert ("should not pass but did: test_it" in complaints(example, score)) is not is_open
