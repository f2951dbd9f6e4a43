"""Jobs that wait for the workers of a cluster."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from viva.pipeline.cluster_lanes import WaitingJobs
from viva.pipeline.jobs import Job


def job(name: str, assignment: str) -> Job:
    named: Any = SimpleNamespace(name=assignment)
    return Job(Path(name), name, named)


def test_the_assignments_of_waiting_jobs_are_known() -> None:
    waiting = WaitingJobs()
    assert not waiting and waiting.assignments == []
    for each in (job("a", "words"), job("b", "masks"), job("c", "words")):
        waiting.append(each)
    first = waiting.take()
    assert first.name == "a" and waiting.assignments == ["words", "masks"] and len(waiting) == 2
    waiting.take()
    assert waiting.assignments == ["words"]
    waiting.put_back(first)
    assert [each.name for each in waiting] == ["a", "c"]
    waiting.take(), waiting.take()
    assert waiting.assignments == [] and not waiting
    waiting.append(first)
    waiting.clear()
    assert waiting.assignments == [] and not waiting


def test_no_job_is_looked_at_to_know_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assignments are part of every task, and a look at each of 100,000 jobs takes 19 ms."""
    waiting = WaitingJobs()
    for number in range(3):
        waiting.append(job(str(number), "words"))

    def looked_at(_: WaitingJobs) -> Iterator[Job]:
        raise AssertionError("each job is looked at")

    monkeypatch.setattr(WaitingJobs, "__iter__", looked_at)
    assert waiting.assignments == ["words"]
