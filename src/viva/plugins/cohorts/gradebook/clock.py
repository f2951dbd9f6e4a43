"""Time between a deadline and a submission: exact instants, calendar days, and both in words."""

from datetime import UTC, datetime, timedelta
from typing import Final

from viva.config.policy import Span
from viva.model.errors import UsageError

_DAY: Final = timedelta(days=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)


def instant(moment: datetime, whose: str) -> datetime:
    """Return the moment in UTC.

    Python compares two times of one zone by what clocks show, which repeats for an hour once a year.

    Raises:
        UsageError: it has no time zone.
    """
    if moment.tzinfo is None:
        raise UsageError(f"{whose}: the time {moment} has no time zone, so whether it is late cannot be told.")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return _LAST if moment.year > 5000 else _FIRST


def after(due: datetime, span: Span, times: int = 1) -> datetime:
    """Return the instant that is `times` spans after a deadline: days keep the time of its clock, seconds are exact."""
    try:
        days = due + times * span.days * _DAY
        return instant(days, "The deadline") + timedelta(seconds=times * span.seconds)
    except OverflowError:
        return _LAST


def begun(due: datetime, span: Span, when: datetime) -> int:
    """Count the spans that have begun between a deadline and an instant: 1 until the end of the first one."""
    nominal = span.days * _DAY + timedelta(seconds=span.seconds)
    number = max(1, (when - instant(due, "The deadline")) // nominal - 1)
    while after(due, span, number) < when:
        number += 1
    return number


def length(time: timedelta) -> str:
    """Format a length of time for a person, in its two largest units: `2 h 10 min`."""
    seconds = time.days * 86_400 + time.seconds
    if seconds == 0:
        return "less than a second"
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number} {unit}")
        elif parts:
            break
    return " ".join(parts[:2])


def shown(moment: datetime) -> str:
    """Format a moment for a person, in its own time zone: `2026-12-01 23:59 +01:00`."""
    text = moment.isoformat(" ", "seconds" if moment.second else "minutes")
    return f"{text[:-6]} {text[-6:]}" if moment.tzinfo is not None else text
