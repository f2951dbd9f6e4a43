"""Estimate how long an answer takes a marker, and how long the remaining answers will take."""

import statistics
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

LONGEST_GAP_S: Final = 600
"""A longer gap between two answers counts as a break."""
FEWEST_GAPS: Final = 3


def seconds_per_answer(times: Iterable[str]) -> float | None:
    """Return the seconds for an answer: the median gap between two answers that were finished in succession.

    Args:
        times: when answers were finished, ISO 8601, in any order; UTC if no zone is given. Answers that were finished
            at the same time were one decision, and count once.

    Returns:
        None if fewer than three gaps are no longer than ten minutes.
    """
    moments = sorted({_moment(time) for time in times})
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    worked = [gap for gap in gaps if gap <= LONGEST_GAP_S]
    return statistics.median(worked) if len(worked) >= FEWEST_GAPS else None


def time_left(remaining: int, seconds: float | None) -> str:
    """Return how long the remaining answers will take, as text: `about 25 min`; empty if none is left or it is unknown.

    Args:
        remaining: the number of answers that are not graded.
        seconds: the time for each of them, from `seconds_per_answer`.
    """
    if remaining <= 0 or seconds is None:
        return ""
    minutes = round(remaining * seconds / 60)
    if minutes < 1:
        return "less than a minute"
    hours, minutes = divmod(minutes if minutes < 60 else 5 * round(minutes / 5), 60)
    return f"about {' '.join([f'{hours} h'] * bool(hours) + [f'{minutes} min'] * bool(minutes))}"


def _moment(time: str) -> datetime:
    moment = datetime.fromisoformat(time)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
