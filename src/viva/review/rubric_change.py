"""What was marked under an earlier rubric: nothing changes by itself, and a person may let the marks follow."""

import uuid
from dataclasses import dataclass

from viva.model.hand_grading import SECOND, Judgement, Place, Review
from viva.records.store import Reason
from viva.review.leases import Marker
from viva.review.queue import Desk

_WHY = "the rubric has changed"


@dataclass(frozen=True, slots=True)
class RubricChange:
    """How marks differ from what the present rubric makes of the same items."""

    moved: int
    """Those that get other points or other words."""
    lost: int
    """Those that name an item which is not there any more."""

    @property
    def marked(self) -> int:
        """All of them."""
        return self.moved + self.lost


def found(desk: Desk, marker: Marker) -> RubricChange | None:
    """What differs now, as far as the marker may let it follow; None where nothing does.

    What is said while the desk stands follows its rubric anyhow.
    """
    news = [new for _, new in _still(desk, marker)]
    lost = sum(new is None for new in news)
    return RubricChange(len(news) - lost, lost) if news else None


def follow(desk: Desk, marker: Marker) -> int:
    """Let every mark that can follow the present rubric, as one action; returns how many did.

    Of a second marker these are the second marks alone: a first mark that she has changed is hers, and what she was
    the first to mark she cannot mark as the second one.

    Raises:
        Changed: somebody has marked one of them meanwhile; nothing was changed.
    """
    said: list[tuple[Place, Judgement]] = [(row.place, new) for row, new in _still(desk, marker) if new is not None]
    desk.append(said, Reason(marker.name, _WHY), action=uuid.uuid4().hex)
    return len(said)


def _still(desk: Desk, marker: Marker) -> list[tuple[Review, Judgement | None]]:
    """Of what differed when the desk was set up, that which still says the same."""
    return [
        (row, new)
        for row, new in desk.outdated
        if (there := desk.journal.at(row.place)) is not None
        and there.judgement == row.judgement
        and (marker.round != SECOND or row.place.round == SECOND)
    ]
