"""What reads a class reads a part of it at a time: memory for one more submission is far below that of its score."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import samples
from tests.support.class_of_scores import bytes_for_one_more
from viva.model.reason import Reason
from viva.pipeline.grading_run import GradingRun
from viva.pipeline.jobs import Job
from viva.pipeline.results_writer import ResultsWriter
from viva.plugins.records.overrides import ByHand, decided, ends_of_attempts
from viva.plugins.records.proposals import NewGrading, decide, pending_proposal, propose
from viva.plugins.records.score_cache import ScoreCache
from viva.plugins.records.store import Records

BY = Reason("grace")
JOB = 2000
"""Bytes of a job of these tests, with its attempt."""
MOST = 1200
"""Bytes. A name, two numbers and their place in a list; a score with its attempt takes 5,000."""


def exhaust(values: Iterable[object]) -> None:
    for _ in values:
        pass


def all_proposed(records: Records) -> None:
    gradings = (
        NewGrading(kept, kept.scored.score, samples.made("m2"), differs=True) for kept in records.each_current("small")
    )
    propose(records, "small", gradings, BY)


def read_changes(records: Records) -> None:
    all_proposed(records)
    proposal = pending_proposal(records, "small")
    assert proposal is not None
    exhaust(proposal.changes)


def discard(records: Records) -> None:
    all_proposed(records)
    proposal = pending_proposal(records, "small")
    assert proposal is not None
    decide(records, proposal, BY, applied=False)


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda records: exhaust(records.each_current("small")), id="read"),
        pytest.param(lambda records: exhaust(decided(records, "small")), id="with decisions"),
        pytest.param(all_proposed, id="propose"),
        pytest.param(read_changes, id="read what is proposed"),
        pytest.param(discard, id="decide"),
    ],
)
@pytest.mark.long
def test_memory_does_not_grow_by_scores(
    records: Records, work: Callable[[Records], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viva.plugins.records.database.AT_ONCE", 20)
    assert bytes_for_one_more(records, lambda: work(records)) < MOST


def test_list_of_all_scores_would_be_noticed(records: Records) -> None:
    assert bytes_for_one_more(records, lambda: records.current("small")) > 2 * MOST


def test_overrides_are_read_without_scores(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        assert ends_of_attempts(records, "small") == {} and not ByHand.read(records, "small").overrides

    monkeypatch.setattr("viva.plugins.records.database.AT_ONCE", 20)
    assert bytes_for_one_more(records, work) < MOST


def test_run_with_nothing_to_do(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `viva grade` does for a class that was graded before, without the files."""
    made = samples.made("m1")  # stand-ins that remember no call, as those of unittest.mock would
    asked: Any = SimpleNamespace(create=lambda *_, **__: made)
    display: Any = SimpleNamespace(advance=lambda _: None)
    assignment: Any = SimpleNamespace(name="small")
    claims: Any = None

    def work() -> None:
        names = [each.name for each in records.list_current("small")]
        jobs = [Job(Path(n), n, assignment, content_hash=n, attempt=samples.attempt(n)) for n in names]
        grading = GradingRun(jobs, ResultsWriter(jobs, None), display, keep_messages=False)
        grading.use_store(ScoreCache(records, asked, samples.made().isolation, BY, claims))
        assert grading.summary.unchanged == len(grading.summary.scores) == len(names) and names

    monkeypatch.setattr("viva.plugins.records.database.AT_ONCE", 20)
    assert bytes_for_one_more(records, work) < 2 * MOST + JOB
