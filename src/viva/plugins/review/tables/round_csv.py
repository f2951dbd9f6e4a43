"""The grades of one round as a CSV table: exported, and imported again as a whole or not at all."""

import uuid
from pathlib import Path

from viva.formats.atomic_write import write_atomically
from viva.model.reason import Reason
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.tables.grades_csv import Latest, read_marks, to_csv


def export_csv(queue: ReviewQueue, round_: int) -> bytes:
    """Return every answer of the class with its grade in a round, as CSV."""
    return to_csv(queue.all_answers(), _latest(queue, round_))


def write_csv(queue: ReviewQueue, round_: int, path: Path) -> None:
    """Write that table to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, export_csv(queue, round_))


def import_csv(queue: ReviewQueue, marker: Marker, data: bytes) -> int:
    """Store the grades of a table that differ from the current ones as one action, and return how many these are.

    Raises:
        UsageError: it is not such a table, a row is wrong, one of its answers was graded since, or the marker may not
            grade one of them. Nothing was stored then.
    """
    answers = {answer.key: answer for answer in queue.all_answers()}
    marks = read_marks(data, answers, queue.rubric, _latest(queue, marker.round), marker.round)
    seen = {mark.place: mark.seen or 0 for mark in marks}
    queue.leases.check_may_mark(marker, [answers[mark.place.content_hash, mark.place.question] for mark in marks])
    judgements = [(mark.place, mark.judgement) for mark in marks]
    queue.append(judgements, Reason(marker.name), action=uuid.uuid4().hex, seen=seen)
    return len(marks)


def _latest(queue: ReviewQueue, round_: int) -> Latest:
    found = {}
    for answer in queue.all_answers():
        latest = queue.decisions.at(place_of(answer.key, round_))
        if latest is not None:
            found[answer.key] = (latest.id, latest.judgement)
    return found
