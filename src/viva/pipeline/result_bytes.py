"""The bytes of the results that `viva grade` writes: as they were graded, and with what people decided."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.model import Entry, Score
from viva.pipeline.local_pool import Job

if TYPE_CHECKING:
    from viva.records.overrides import Decided

_ANYBODY: Final = "the submission whose name goes here"


def around_the_name(job: Job, pending: tuple[Entry, ...]) -> list[bytes]:
    """The result of a submission that was not asked anything yet, split where its name stands."""
    score = Score(_ANYBODY, "", job.assignment.name, job.assignment.version, pending)
    parts = result(score, complete=False).split(f'"{_ANYBODY}"'.encode())
    assert len(parts) == 2  # no text of a course is this name
    return parts


def result(score: Score, *, complete: bool = True) -> bytes:
    """A result as it was graded."""
    from viva.formats.results_json import to_json  # a tenth of a second, while the examiners start

    return to_json(score, complete=complete)


def marked(decided: "Decided") -> bytes:
    """A result with what people decided: marks as `viva review` of a folder writes them, so that it can change them."""
    from viva.formats.hand_graded_results import joined
    from viva.formats.results_json import results_of, to_bytes

    return to_bytes(joined(results_of(decided.set_by_hand), decided.marks))


def says(path: Path, decided: "Decided", *, changed: bool) -> bool:
    """Whether a result is that of the score: to the letter where this may have changed, else by its marks."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    if changed:
        return data == marked(decided)
    score = decided.set_by_hand
    marks = (f'"content_hash": "{score.content_hash}"', f'"earned": "{score.earned}"', '"complete": true')
    return all(mark.encode() in data for mark in marks)
