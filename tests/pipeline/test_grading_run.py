"""The end of a run over a class."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from viva.model import Isolation, Score
from viva.model.errors import UsageError
from viva.model.grade_request import Graded
from viva.pipeline import results_writer
from viva.pipeline.grading_run import GradingRun
from viva.pipeline.jobs import Batches, Job
from viva.pipeline.results_writer import ResultsWriter
from viva.plugins.records.overrides import DecidedScore


def score_of(name: str) -> Score:
    return Score(name, "00", "small", 1, (), isolation=Isolation("T0"))


class _FailingPool:
    """Reports a full disk for the first job; notes when it is ended."""

    def __init__(self) -> None:
        self.ended = False

    def in_batches(self, jobs: Sequence[Job]) -> Batches:
        try:
            for job in jobs:
                yield [(job, UsageError("the disk is full"))]
        finally:
            self.ended = True


class _Pool:
    """Returns scores of all jobs at once."""

    def in_batches(self, jobs: Sequence[Job]) -> Batches:
        yield [(job, Graded(score_of(job.name))) for job in jobs]


class _Store:
    """Keeps scores together, or none if there is one that it cannot keep."""

    def __init__(self, refused: str) -> None:
        self.refused, self.kept, self.tries = refused, list[str](), 0

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> list[DecidedScore]:
        self.tries += 1
        if any(job.name == self.refused for job, _ in graded):
            raise UsageError("it is too large.")
        self.kept += [job.name for job, _ in graded]
        return [DecidedScore(one.score, {}) for _, one in graded]


class _Counting:
    def __init__(self) -> None:
        self.count = 0

    def advance(self, score: object) -> None:
        self.count += 1

    def wait(self, count: int, grader: str) -> None:
        raise AssertionError("there is no other grader")


def test_pool_ends_before_the_error_is_reported(jobs: list[Job]) -> None:
    """A command that ended while its other threads were writing left unfinished files."""
    pool: Any = _FailingPool()
    display = _Counting()
    with pytest.raises(UsageError, match="the disk is full"):
        GradingRun(jobs, ResultsWriter(jobs, None), display).run(pool)
    assert pool.ended and display.count == 0


@pytest.fixture
def jobs() -> list[Job]:
    assignment: Any = None
    return [Job(Path(name), name, assignment) for name in "abc"]


@pytest.fixture
def pool() -> Any:
    return _Pool()


def run(jobs: list[Job], store: _Store, folder: Path) -> tuple[GradingRun, _Counting]:
    display = _Counting()
    grading = GradingRun(jobs, ResultsWriter(jobs, folder), display)
    grading.use_decisions(store)
    return grading, display


def test_scores_are_kept_together(jobs: list[Job], pool: Any, tmp_path: Path) -> None:
    store = _Store(refused="")
    grading, display = run(jobs, store, tmp_path)
    summary = grading.run(pool)
    assert (store.tries, store.kept, display.count) == (1, ["a", "b", "c"], 3)
    assert sorted(summary.scores) == ["a", "b", "c"]
    assert all((tmp_path / name / "results.json").is_file() for name in "abc")


def test_score_that_cannot_be_kept(jobs: list[Job], pool: Any, tmp_path: Path) -> None:
    store = _Store(refused="b")
    grading, _ = run(jobs, store, tmp_path)
    with pytest.raises(UsageError, match=r"it is too large\. Its result is written"):
        grading.run(pool)
    assert store.kept == ["a"]
    assert sorted(path.parent.name for path in tmp_path.rglob("results.json")) == ["a", "b"]


def test_result_that_cannot_be_written_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading continues while a disk is full; only the last state counts."""
    monkeypatch.setattr(results_writer, "WRITE_EVERY_S", -1.0)
    assignment: Any = SimpleNamespace(name="small", version=1)
    job = Job(Path("a"), "a", assignment)
    writer = ResultsWriter([job], tmp_path)
    writer.start(job, ())
    folder = tmp_path / "a"
    folder.rename(tmp_path / "away")
    folder.touch()  # no file can be written below a file
    writer.entry(job, tuple)
    folder.unlink()
    writer.finish(job, Graded(score_of("a")), None)
    assert json.loads((folder / "results.json").read_bytes())["extra_data"]["complete"]
