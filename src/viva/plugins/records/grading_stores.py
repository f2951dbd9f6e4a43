"""The stores of `viva grade`: the course's records, or the decisions in a folder of results."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from viva.model.grade_request import Graded
from viva.pipeline.jobs import Job
from viva.pipeline.score_store import StoreRequest, Stores
from viva.plugins.records import CALL_LOG
from viva.plugins.records.open_records import IN_FOLDER, folder_records, records_at

if TYPE_CHECKING:  # importing it loads SQLAlchemy
    from viva.plugins.records.overrides import DecidedScore
    from viva.plugins.records.store import Records


@contextlib.contextmanager
def open_stores(request: StoreRequest) -> Iterator[Stores]:
    """Open the records if the course or the command names some, else the decisions in the folder of results.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    place = request.url or request.course.records
    if place is None:
        with _open_decisions(request) as decisions:
            yield Stores(decisions=decisions)
        return
    with records_at(place, request.course.root) as records:
        from viva.plugins.records.claims import Claims
        from viva.plugins.records.conditions import RunConditions
        from viva.plugins.records.score_cache import ScoreCache

        options = replace(request.options, interceptor=CALL_LOG)
        run = RunConditions(request.course.root, request.secret, options, gpu=request.has_gpu)
        with Claims(records.engine) as claims:
            yield Stores(ScoreCache(records, run, request.isolation, request.reason, claims, again=request.again))


class FolderDecisions:
    """Knows the decisions that `viva review` kept in a folder of results, while its submissions are graded again."""

    def __init__(self, records: "Records") -> None:
        self._records = records

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> "list[DecidedScore]":
        """Return scores with the decisions about their bytes; keep nothing."""
        from viva.plugins.records.overrides import ByHand, DecidedScore

        decided = []
        for job, one in graded:
            by_hand = ByHand.read_about(self._records, job.assignment.name, (), [one.score.content_hash])
            decided.append(DecidedScore(one.score, by_hand.marks.get(one.score.content_hash, {})))
        return decided


@contextlib.contextmanager
def _open_decisions(request: StoreRequest) -> Iterator[FolderDecisions | None]:
    """Open the decisions in the folder that results are written to; None if there are none."""
    if request.output is None or not (request.output / IN_FOLDER).is_file():
        yield None
        return
    with folder_records(request.output) as records:
        yield FolderDecisions(records)
