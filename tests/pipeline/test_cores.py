"""Where every core has an examiner, each keeps to its own, and its boxes with it; one that has a GPU may use all."""

import os
import threading
from pathlib import Path
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

CORES = sorted(os.sched_getaffinity(0))
TESTS = f"""
import os

def test_the_student_has_the_same(student):
    assert student.cores() == [{CORES[-1]}]

def test_the_examiner_has_one(student):
    student.cores()
    assert os.sched_getaffinity(0) == {{{CORES[-1]}}}
"""


def test_an_examiner_and_its_boxes_keep_to_their_core(tmp_path: Path) -> None:
    course = write_course(tmp_path / "course", tests=TESTS, key="")
    handed_in = tmp_path / "solution.py"
    handed_in.write_text("import os\ndef cores(): return sorted(os.sched_getaffinity(0))\n")
    examiner = ExaminerProcess(course, course.assignment(NAME), b"0" * 20, BoxOptions(best_tier(), core=CORES[-1]))
    with examiner:
        graded = examiner.grade(GradeRequest(open_submission(handed_in, "solution.py"), GradeOptions()))
    assert [entry.status for entry in graded.score.entries] == [Status.PASSED] * 2


def test_a_box_may_be_given_all_cores() -> None:
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


class _Assignment:
    name = "small"
    limits = Limits(memory_mib=1024)


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
def test_examiners_have_a_core_each_only_where_all_cores_are_taken(
    cores: list[int | None], workers: int, expected: set[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[int | None] = set()

    def examiner(course: Any, assignment: Any, secret: bytes, boxes: BoxOptions, unused: Any) -> Any:
        asked.add(boxes.core)
        raise GraderError("enough")

    count = workers or len(cores)
    take, all_have_one = local_pool._Queue.take, threading.Barrier(count)

    def take_and_wait(self: Any) -> Any:  # each worker gets a job, however quick the others are
        job = take(self)
        if job is not None:
            all_have_one.wait(10)
        return job

    monkeypatch.setattr(local_pool._Queue, "take", take_and_wait)
    monkeypatch.setattr(local_pool, "ExaminerProcess", examiner)
    monkeypatch.setattr(capacity, "cores", lambda: cores)
    monkeypatch.setattr(capacity, "container_mib", lambda: 1 << 20)
    assignment: Any = _Assignment()
    course: Any = None
    batch = LocalPool(course, b"", BoxOptions(Tier.T0), GradeOptions(), workers=workers)
    jobs = [Job(Path(f"{n}.py"), str(n), assignment) for n in range(count)]
    assert len(list(batch.run(jobs))) == count
    assert asked == expected
