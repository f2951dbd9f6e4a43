"""What a batch tells its examiners: modules, and how many of them fit into memory."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from viva.model import Limits, Tier
from viva.model.errors import GraderError
from viva.pipeline import capacity
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions

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
