"""What a batch tells its examiners: modules, memory, and a core of their own where every core has an examiner."""

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.course_of_texts import NAME, best_tier, write_course
from viva.model import Limits, Status, Tier
from viva.model.errors import GraderError
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline import capacity, local_pool
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.fork_server import ForkServer
from viva.submissions import open_submission

ASSIGNMENT: Any = SimpleNamespace(name="small", limits=Limits(memory_mib=1024))
COURSE: Any = None


@dataclass
class RefusedExaminers:
    """A factory of examiners that starts none, and records with what they would be started."""

    options: list[BoxOptions] = field(default_factory=list)

    def refuse(self, _course: Any, _assignment: Any, _secret: bytes, boxes: BoxOptions, _unused: Any) -> Any:
        self.options.append(boxes)
        raise GraderError("enough")


@pytest.mark.parametrize("may_hold_notebook", [False, True])
def test_modules_for_notebooks_only_for_notebooks(may_hold_notebook: bool) -> None:
    """Classes of 50 and more are read one by one; their shell took time and memory for modules, too."""
    refused = RefusedExaminers()
    batch = LocalPool(COURSE, b"", BoxOptions(Tier.T0), workers=1, examiner_factory=refused.refuse)
    jobs = [Job(Path("a.py"), "a", ASSIGNMENT, may_hold_notebook=may_hold_notebook)]
    assert [str(error) for _, error in batch.run(jobs)] == ["enough"]
    assert [boxes.notebooks for boxes in refused.options] == [may_hold_notebook]


@pytest.mark.parametrize(
    ("there_mib", "limit_mib", "workers"),
    [(None, 1024, 8), (16_000, 1024, 8), (8000, 1024, 5), (4000, 2048, 1), (300, 1024, 1)],
)
def test_examiners_fit_into_memory(
    there_mib: int | None, limit_mib: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "container_mib", lambda: there_mib)
    assert capacity.within_memory(8, limit_mib) == workers


# --- cores


CORES = sorted(os.sched_getaffinity(0))
TESTS = f"""
import os

def test_the_student_has_the_same(student):
    assert student.cores() == [{CORES[-1]}]

def test_the_examiner_has_one(student):
    student.cores()
    assert os.sched_getaffinity(0) == {{{CORES[-1]}}}
"""


def test_examiner_and_its_boxes_keep_to_their_core(tmp_path: Path) -> None:
    course = write_course(tmp_path / "course", tests=TESTS, key="")
    handed_in = tmp_path / "solution.py"
    handed_in.write_text("import os\ndef cores(): return sorted(os.sched_getaffinity(0))\n")
    examiner = ExaminerProcess(course, course.assignment(NAME), b"0" * 20, BoxOptions(best_tier(), core=CORES[-1]))
    with examiner:
        graded = examiner.grade(GradeRequest(open_submission(handed_in, "solution.py"), GradeOptions()))
    assert [entry.status for entry in graded.score.entries] == [Status.PASSED] * 2


def test_box_may_be_given_all_cores() -> None:
    """As those are that have a GPU, which several processes may feed."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORES[0]})
    try:
        fork_server = ForkServer.start(best_tier(), preload=["numpy"], cores=CORES)
    finally:
        os.sched_setaffinity(0, before)
    with fork_server, fork_server.spawn(Limits()) as box:
        box.ask(
            "put",
            timeout_s=5,
            path="solution.py",
            data=b"import os\ndef cores(): return sorted(os.sched_getaffinity(0))",
        )
        box.ask("load_module", timeout_s=10, path="solution.py", mode="run", forbid=[])
        fields = {"space": "student", "name": "cores", "args": [], "kwargs": {}, "keep": False, "full": False}
        assert box.ask("call", timeout_s=10, **fields)["ok"] == CORES


@pytest.mark.parametrize(
    ("cores", "workers", "expected"),
    [
        ([0, 1], 2, {0, 1}),
        ([3, 5, 6], 0, {3, 5, 6}),  # a worker for each
        ([0, 1], 1, {None}),  # one examiner: boxes are made on one core while the other is asked
        ([0, 1], 3, {None}),
        ([0, 1, 2], 2, {None}),
        ([4], 1, {None}),
        ([None, None], 2, {None}),  # a system that does not let one choose
    ],
)
def test_core_of_each_examiner(
    cores: list[int | None],
    workers: int,
    expected: set[int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = workers or len(cores)
    take, all_have_one = local_pool._Queue.take, threading.Barrier(count)

    def take_and_wait(self: Any) -> Any:  # each worker gets a job, however quick the others are
        job = take(self)
        if job is not None:
            all_have_one.wait(10)
        return job

    monkeypatch.setattr(local_pool._Queue, "take", take_and_wait)
    monkeypatch.setattr(capacity, "cores", lambda: cores)
    monkeypatch.setattr(capacity, "container_mib", lambda: 1 << 20)
    refused = RefusedExaminers()
    batch = LocalPool(COURSE, b"", BoxOptions(Tier.T0), workers=workers, examiner_factory=refused.refuse)
    jobs = [Job(Path(f"{n}.py"), str(n), ASSIGNMENT) for n in range(count)]
    assert len(list(batch.run(jobs))) == count
    assert {boxes.core for boxes in refused.options} == expected
