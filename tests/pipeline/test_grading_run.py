"""The end of a run over a class."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from viva.model import Tier
from viva.model.errors import UsageError
from viva.pipeline.grading_run import GradingRun
from viva.pipeline.jobs import GradedJobs, Job
from viva.pipeline.results_writer import ResultsWriter


class _FailingPool:
    """Reports a full disk for the first job; notes when it is ended."""

    def __init__(self) -> None:
        self.ended = False

    def run(self, jobs: Sequence[Job]) -> GradedJobs:
        try:
            for job in jobs:
                yield job, UsageError("the disk is full")
        finally:
            self.ended = True


class _Display:
    def advance(self, score: object) -> None:
        raise AssertionError("nothing was graded")

    def wait(self, count: int, grader: str) -> None:
        raise AssertionError("there is no other grader")


def test_a_pool_is_ended_before_the_error_of_a_run_is_reported() -> None:
    """A command that ended while its other threads were writing left unfinished files."""
    assignment: Any = None
    jobs = [Job(Path(name), name, assignment) for name in ("a", "b")]
    pool = _FailingPool()
    with pytest.raises(UsageError, match="the disk is full"):
        GradingRun(jobs, ResultsWriter(jobs, None, Tier.T0), _Display()).run(pool)
    assert pool.ended
