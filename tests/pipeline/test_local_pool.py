"""What a batch tells its examiners before they start."""

from pathlib import Path
from typing import Any

import pytest

from viva.model import Limits, Tier
from viva.model.errors import GraderError
from viva.model.grade_request import GradeOptions
from viva.pipeline import capacity, local_pool
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions


class _Assignment:
    name = "small"
    limits = Limits(memory_mib=1024)


@pytest.mark.parametrize("may_hold_notebook", [False, True])
def test_a_class_whose_bytes_are_read_later_loads_what_notebooks_need_only_for_notebooks(
    may_hold_notebook: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes of 50 and more are read one by one; their shell took time and memory for modules, too."""
    told: list[bool] = []

    def examiner(course: Any, assignment: Any, secret: bytes, boxes: BoxOptions, unused: Any) -> Any:
        told.append(boxes.notebooks)
        raise GraderError("enough")

    monkeypatch.setattr(local_pool, "ExaminerProcess", examiner)
    assignment: Any = _Assignment()
    course: Any = None
    batch = LocalPool(course, b"", BoxOptions(Tier.T0), GradeOptions(), workers=1)
    jobs = [Job(Path("a.py"), "a", assignment, may_hold_notebook=may_hold_notebook)]
    assert [str(error) for _, error in batch.run(jobs)] == ["enough"]
    assert told == [may_hold_notebook]


@pytest.mark.parametrize(
    ("there_mib", "limit_mib", "workers"),
    [(None, 1024, 8), (16_000, 1024, 8), (8000, 1024, 5), (4000, 2048, 1), (300, 1024, 1)],
)
def test_no_more_examiners_than_there_is_memory_for(
    there_mib: int | None, limit_mib: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "container_mib", lambda: there_mib)
    assert capacity.within_memory(8, limit_mib) == workers
