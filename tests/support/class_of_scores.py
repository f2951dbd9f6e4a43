"""A class of any size in the records, and what one more submission of it takes in memory."""

import tracemalloc
from collections.abc import Callable

from tests.support import samples
from viva.model import Score
from viva.model.reason import Reason
from viva.plugins.records.database import write_session
from viva.plugins.records.store import NewScore, Records, add_score

FEW, MANY = 50, 450


def keep_class(records: Records, first: int, last: int, made: Callable[[Score], Score] = lambda score: score) -> None:
    """Store the scores of the submissions from one number to another, whose messages differ."""
    names = [f"s{number:05}" for number in range(first, last)]
    numbers = records.add_attempts("small", [(samples.attempt(name), name) for name in names])
    with write_session(records.engine) as session:
        for name, number in zip(names, numbers, strict=True):
            score = made(samples.with_message(samples.score(name, content_hash=name), f"{name} is wrong " * 40))
            add_score(session, NewScore(number, score, samples.made("m1"), Reason("grace")))


def bytes_for_one_more(records: Records, work: Callable[[], object]) -> float:
    """Return how much the peak of some work grows with each submission of the class.

    The lower of two peaks counts: once in a while, Python makes its table of interned texts larger, by megabytes.
    """
    keep_class(records, 0, FEW)
    work()  # what is loaded and cached once
    of_few = min(_peak(work), _peak(work))
    keep_class(records, FEW, MANY)
    of_many = min(_peak(work), _peak(work))
    return (of_many - of_few) / (MANY - FEW)


def _peak(work: Callable[[], object]) -> int:
    """Return the most bytes that some work holds at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
