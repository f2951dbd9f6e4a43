"""Grades given under an earlier rubric: they change only when a person applies the present rubric to them."""

import uuid
from dataclasses import dataclass

from viva.model.hand_grading import SECOND, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue

_WHY = "the rubric has changed"


@dataclass(frozen=True, slots=True)
class RubricChange:
    """The number of grades that differ from what the present rubric gives for the same items."""

    moved: int
    """Grades that get other points or another text."""
    lost: int
    """Grades with an item that is no longer in the rubric."""

    @property
    def marked(self) -> int:
        """Return the number of all grades that differ."""
        return self.moved + self.lost


def find(queue: ReviewQueue, marker: Marker) -> RubricChange | None:
    """Count the grades that differ from the present rubric and that the marker may update; None if there are none.

    Grades given since the queue was opened follow its rubric already.
    """
    renewed = [new for _, new in _unchanged(queue, marker)]
    lost = sum(new is None for new in renewed)
    return RubricChange(len(renewed) - lost, lost) if renewed else None


def apply(queue: ReviewQueue, marker: Marker) -> int:
    """Apply the present rubric to every grade that allows it, as one action, and return how many these are.

    A second marker updates only grades of the second round: who changes a first grade becomes the first marker, and
    the first marker of an answer cannot be its second one.

    Raises:
        Changed: another marker has graded one of the answers since; nothing was changed.
    """
    judgements: list[tuple[Place, Judgement]] = [
        (row.place, new) for row, new in _unchanged(queue, marker) if new is not None
    ]
    queue.append(judgements, Reason(marker.name, _WHY), action=uuid.uuid4().hex)
    return len(judgements)


def _unchanged(queue: ReviewQueue, marker: Marker) -> list[tuple[Review, Judgement | None]]:
    """Return the outdated grades that no one has changed since the class was read."""
    return [
        (row, new)
        for row, new in queue.outdated
        if (latest := queue.decisions.at(row.place)) is not None
        and latest.judgement == row.judgement
        and (marker.round != SECOND or row.place.round == SECOND)
    ]
