"""How long an answer takes a marker, and how long what is left will take."""

import statistics
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

LONGEST_GAP_S: Final = 600
"""Who finishes nothing for longer has done something else meanwhile."""
FEWEST_GAPS: Final = 3


def pace(times: Iterable[str]) -> float | None:
    """Seconds for an answer: the median time between one that was finished and the next.

    Args:
        times: when answers were finished, ISO 8601, in any order; UTC where no zone is named. What was finished at one
            time was one decision, and counts once.

    Returns:
        None where fewer than three gaps are no longer than ten minutes.
    """
    moments = sorted({_moment(time) for time in times})
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    worked = [gap for gap in gaps if gap <= LONGEST_GAP_S]
    return statistics.median(worked) if len(worked) >= FEWEST_GAPS else None


def time_left(remaining: int, seconds: float | None) -> str:
    """How long answers will take, for a person: `about 25 min`; empty where none is left or nobody can say.

    Args:
        remaining: answers.
        seconds: for each of them, as `pace` says it.
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
