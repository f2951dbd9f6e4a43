"""Decide whether an attempt is late, whether it counts, and what is taken off."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Final

from viva.config.policy import Amount, Policy, Rate, Span
from viva.formats.decimal_points import show
from viva.model import Attempt
from viva.plugins.cohorts.gradebook.clock import after, begun, instant, length, shown

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
        kept = min(earned, _of(self.floor, earned, maximum))
        return max(Fraction(0), min(self.times * _of(self.minus, earned, maximum), earned - kept))

    def sentence(self, loss: Fraction) -> str:
        """Return the sentence for the student; empty if it is in time."""
        if not self.text or not self.counts:
            return self.text
        if self.minus == _NOTHING:
            return f"{self.text}: nothing is taken off"
        rate = _shown(Amount(self.times * self.minus.share, self.minus.of_maximum, self.times * self.minus.points))
        exact = "" if rate == f"−{show(loss)} points" else f" = −{show(loss)} points"
        return f"{self.text}: {rate}{exact}"


def lateness(attempt: Attempt, due: datetime | None, policy: Policy) -> Lateness:
    """Compute the lateness of an attempt by a student's deadline; one without a time is not late, and `text` says so.

    Raises:
        UsageError: its time has no zone.
    """
    if attempt.submitted_at is None:
        source = ", though its source calls it late" if attempt.late else ""
        return Lateness(f"when {attempt.name} was submitted is not known{source}" if due is not None or source else "")
    when = instant(attempt.submitted_at, attempt.name)
    if due is None or when <= (deadline := instant(due, "The deadline")):
        return Lateness()
    text = f"{length(when - deadline)} late"
    if when <= after(due, policy.grace):
        return Lateness(f"{text}, within the grace of {policy.grace.written}")
    if (end := _closes(policy, due)) is not None and when > instant(end, "closes"):
        return Lateness(f"{text}: submitted after {shown(end)}, when nothing counts any more", counts=False)
    if isinstance(policy.late, Rate):
        times = begun(due, policy.late.per, when)
        more = f", {policy.late.per.written} begun {times} times" if times > 1 else ""
        return Lateness(f"{text}{more}", minus=policy.late.minus, times=times, floor=policy.late.floor)
    for step in policy.late:
        if step.until is None or when <= after(due, step.until):
            return Lateness(text, minus=step.minus)
    if policy.late:
        last = policy.late[-1].until or Span()
        return Lateness(f"{text}: more than {last.written} late does not count", counts=False)
    return Lateness(text)


def _closes(policy: Policy, due: datetime) -> datetime | None:
    """Return when nothing counts any more; an extension beyond the common last date moves it."""
    if isinstance(policy.closes, Span):
        return after(due, policy.closes).astimezone(due.tzinfo)
    if policy.closes is None:
        return None
    return policy.closes if instant(policy.closes, "closes") > instant(due, "The deadline") else due


def _of(amount: Amount, earned: Fraction, maximum: Fraction) -> Fraction:
    return amount.points + amount.share * (maximum if amount.of_maximum else earned)


def _shown(amount: Amount) -> str:
    if amount.points:
        return f"−{show(amount.points)} points"
    return f"−{show(100 * amount.share)} %{' of the maximum' if amount.of_maximum else ''}"
