"""Decide whether an attempt is late, whether it counts, and what is taken off.

Time between a deadline and a submission is exact; calendar days keep the time of the deadline's clock.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final

from viva.config.policy import Amount, Policy, Rate, Span
from viva.formats.decimal_points import show
from viva.model import Attempt
from viva.model.errors import UsageError

_DAY: Final = timedelta(days=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_NOTHING: Final = Amount()


@dataclass(frozen=True, slots=True)
class Lateness:
    """The effect of an attempt's time on its points."""

    text: str = ""
    """In words, without the penalty: `2 h 10 min late`; empty if it is in time."""
    counts: bool = True
    minus: Amount = _NOTHING
    times: int = 1
    floor: Amount = _NOTHING

    def loss(self, earned: Fraction, maximum: Fraction) -> Fraction:
        """Return the points taken off: never more than were earned, and never below the floor."""
        if not self.counts:
            return earned
        kept = min(earned, _resolve(self.floor, earned, maximum))
        return max(Fraction(0), min(self.times * _resolve(self.minus, earned, maximum), earned - kept))

    def sentence(self, loss: Fraction) -> str:
        """Return the sentence for the student; empty if it is in time."""
        if not self.text or not self.counts:
            return self.text
        if self.minus == _NOTHING:
            return f"{self.text}: nothing is taken off"
        rate = _format_amount(
            Amount(self.times * self.minus.share, self.minus.of_maximum, self.times * self.minus.points)
        )
        exact = "" if rate == f"−{show(loss)} points" else f" = −{show(loss)} points"
        return f"{self.text}: {rate}{exact}"


def compute_lateness(attempt: Attempt, due: datetime | None, policy: Policy) -> Lateness:
    """Compute the lateness of an attempt by a student's deadline; one without a time is not late, and `text` says so.

    Raises:
        UsageError: its time has no zone.
    """
    if attempt.submitted_at is None:
        source = ", though its source calls it late" if attempt.late else ""
        return Lateness(f"when {attempt.name} was submitted is not known{source}" if due is not None or source else "")
    when = to_utc(attempt.submitted_at, attempt.name)
    if due is None or when <= (deadline := to_utc(due, "The deadline")):
        return Lateness()
    text = f"{format_length(when - deadline)} late"
    if when <= add_spans(due, policy.grace):
        return Lateness(f"{text}, within the grace of {policy.grace.written}")
    if (end := _find_close(policy, due)) is not None and when > to_utc(end, "closes"):
        return Lateness(f"{text}: submitted after {format_moment(end)}, when nothing counts any more", counts=False)
    if isinstance(policy.late, Rate):
        times = count_begun_spans(due, policy.late.per, when)
        more = f", {policy.late.per.written} begun {times} times" if times > 1 else ""
        return Lateness(f"{text}{more}", minus=policy.late.minus, times=times, floor=policy.late.floor)
    for step in policy.late:
        if step.until is None or when <= add_spans(due, step.until):
            return Lateness(text, minus=step.minus)
    if policy.late:
        last = policy.late[-1].until or Span()
        return Lateness(f"{text}: more than {last.written} late does not count", counts=False)
    return Lateness(text)


def _find_close(policy: Policy, due: datetime) -> datetime | None:
    """Return when nothing counts any more; an extension beyond the common last date moves it."""
    if isinstance(policy.closes, Span):
        return add_spans(due, policy.closes).astimezone(due.tzinfo)
    if policy.closes is None:
        return None
    return policy.closes if to_utc(policy.closes, "closes") > to_utc(due, "The deadline") else due


def _resolve(amount: Amount, earned: Fraction, maximum: Fraction) -> Fraction:
    return amount.points + amount.share * (maximum if amount.of_maximum else earned)


def _format_amount(amount: Amount) -> str:
    if amount.points:
        return f"−{show(amount.points)} points"
    return f"−{show(100 * amount.share)} %{' of the maximum' if amount.of_maximum else ''}"


def to_utc(moment: datetime, whose: str) -> datetime:
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


def add_spans(due: datetime, span: Span, times: int = 1) -> datetime:
    """Return the instant that is `times` spans after a deadline: days keep the time of its clock, seconds are exact."""
    try:
        days = due + times * span.days * _DAY
        return to_utc(days, "The deadline") + timedelta(seconds=times * span.seconds)
    except OverflowError:
        return _LAST


def count_begun_spans(due: datetime, span: Span, when: datetime) -> int:
    """Count the spans that have begun between a deadline and an instant: 1 until the end of the first one."""
    nominal = span.days * _DAY + timedelta(seconds=span.seconds)
    number = max(1, (when - to_utc(due, "The deadline")) // nominal - 1)
    while add_spans(due, span, number) < when:
        number += 1
    return number


def format_length(time: timedelta) -> str:
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


def format_moment(moment: datetime) -> str:
    """Format a moment for a person, in its own time zone: `2026-12-01 23:59 +01:00`."""
    text = moment.isoformat(" ", "seconds" if moment.second else "minutes")
    return f"{text[:-6]} {text[-6:]}" if moment.tzinfo is not None else text
