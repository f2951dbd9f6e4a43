"""Choose which of a student's attempts counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from viva.config.policy import Attempts, Policy
from viva.formats.decimal_points import show
from viva.model import ScoredAttempt
from viva.plugins.cohorts.gradebook.lateness import Lateness, compute_lateness, to_utc


@dataclass(frozen=True, slots=True)
class Outcome:
    """A scored attempt with the points that it gives one student."""

    scored: ScoredAttempt
    late: Lateness
    earned: Fraction
    still_open: Fraction
    maximum: Fraction

    @property
    def loss(self) -> Fraction:
        """Return the points taken off for lateness."""
        return self.late.loss(self.earned, self.maximum)

    @property
    def points(self) -> Fraction:
        """Return the points that are left."""
        return self.earned - self.loss

    @property
    def most(self) -> Fraction:
        """Return the points if all that is not graded yet were earned."""
        all_won = self.earned + self.still_open
        return all_won - self.late.loss(all_won, self.maximum)


@dataclass(frozen=True, slots=True)
class Choice:
    """The attempt that counts, and sentences about the others."""

    counted: Outcome
    reasons: tuple[str, ...]
    rival: bool
    """Whether another attempt may still become better."""


def compute_outcome(scored: ScoredAttempt, due: datetime | None, policy: Policy) -> Outcome:
    """Compute what an attempt gives by a deadline; points of tests that did not run are not graded yet."""
    score = scored.score
    maximum = score.points if policy.maximum is None else policy.maximum
    not_asked = max(Fraction(0), maximum - score.points)
    return Outcome(
        scored, compute_lateness(scored.attempt, due, policy), score.earned, score.still_open + not_asked, maximum
    )


def choose_attempt(outcomes: Sequence[Outcome], attempts: Attempts) -> Choice:
    """Choose the attempt that counts; there is at least one.

    One that came too late to count is never chosen over one that did not.
    """
    in_order = _in_order(outcomes)
    taken = in_order[: attempts.count]
    reasons = []
    if len(taken) < len(in_order):
        reasons.append(f"{len(in_order)} were submitted, and the first {attempts.count} count")
    eligible = [each for each in taken if each.late.counts] or taken
    if attempts.which == "last":
        counted = eligible[-1]
        if counted is not taken[-1]:
            reasons.append("a later submission came too late to count")
        return Choice(counted, tuple(reasons), rival=False)
    counted = max(eligible, key=lambda each: each.points)  # of equals the first
    rivals = [each for each in eligible if each is not counted and each.most > counted.points]
    if len(eligible) > 1:
        reasons.append(f"the best of {len(eligible)} that were submitted")
    reasons += [
        f"{each.scored.attempt.name} has {show(each.still_open)} points that are not graded yet and may still improve"
        for each in rivals
    ]
    return Choice(counted, tuple(reasons), rival=bool(rivals))


def _in_order(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Sort from the first to the last: by time where every attempt has one, else as the source counts them."""
    attempts = [each.scored.attempt for each in outcomes]
    timed = all(attempt.submitted_at is not None for attempt in attempts)

    def place(each: Outcome) -> tuple[datetime, int, str]:
        attempt = each.scored.attempt
        when = attempt.submitted_at if timed else None
        start = datetime.min.replace(tzinfo=UTC)
        return (to_utc(when, attempt.name) if when else start, attempt.number, attempt.name)

    return sorted(outcomes, key=place)
