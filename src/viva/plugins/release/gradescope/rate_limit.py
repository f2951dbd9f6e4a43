"""The limit on graded submissions in a span of time; submissions above it keep the last results.

The decision uses what the platform knows about earlier submissions, relative to the time of this one, so that a rerun
months later decides the same. A submission that was not graded does not count: the history is read from its start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from viva.model.counting import counted
from viva.plugins.release.gradescope.fallback_results import FAILED
from viva.plugins.release.gradescope.submission_metadata import Metadata, PreviousSubmission

_UNITS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a submission is not graded."""

    note: str
    """One line for the student."""
    last: PreviousSubmission
    """The earlier submission whose results are shown again."""


def refused(metadata: Metadata, attempts: int | None, per_s: float) -> Refused | None:
    """Return why this submission is not graded: there were enough attempts already; None if it can be graded.

    Args:
        metadata: what the platform knows about this submission and the earlier ones.
        attempts: how many are graded in `per_s`; None for all.
        per_s: the span of time in seconds.
    """
    now = metadata.created_at
    if attempts is None or now is None:
        return None
    per = timedelta(seconds=per_s)
    before = [previous for previous in metadata.previous if previous.at < now]
    graded: list[datetime] = []
    for previous in before:
        if not _failed(previous) and len(_since(graded, previous.at, per)) < attempts:
            graded.append(previous.at)
    used = _since(graded, now, per)
    if len(used) < attempts:
        return None
    times = counted(attempts, "submission is", "submissions are")
    free = (used[-attempts] + per).astimezone(now.tzinfo or UTC)
    note = (
        f"{NOT_GRADED} {times} graded in {span_in_words(per_s)}, and you have had that many. "
        f"The next one is graded from {free:%Y-%m-%d %H:%M:%S %Z} on. Below are your last results."
    )
    successes = [previous for previous in before if not _failed(previous)]
    return Refused(note, next((x for x in reversed(successes) if x.results is not None), successes[-1]))


NOT_GRADED: Final = "This submission was not graded:"


def span_in_words(span_s: float) -> str:
    """Return the span in the largest unit that fits exactly: `24 hours`, `1 day`."""
    size, unit = next((size, unit) for size, unit in _UNITS if span_s % size == 0 or size == 1)
    return counted(round(span_s / size), unit)


def _since(times: list[datetime], now: datetime, per: timedelta) -> list[datetime]:
    return [at for at in times if now - at < per]


def _failed(previous: PreviousSubmission) -> bool:
    """Return whether the platform failed, or reported a success whose results say that we failed."""
    data: Any = (previous.results or {}).get("extra_data")
    return previous.is_error or (isinstance(data, Mapping) and FAILED in data)
