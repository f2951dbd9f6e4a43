"""Late by the second, by clocks that change, by steps and by rates."""

import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support.gradebook_class import DUE, MICROSECOND, POLICY, RATE, STEPS, days, hours, share
from viva.config.policy import Amount, Policy, Rate, Span, Step
from viva.model import Attempt
from viva.model.errors import UsageError
from viva.plugins.cohorts.gradebook.lateness import compute_lateness, count_begun_spans, format_length

VIENNA = ZoneInfo("Europe/Vienna")
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def lost(policy: Policy, when: datetime | None, earned: int = 70, due: datetime | None = DUE) -> Fraction:
    """Points taken from so many of 100."""
    return compute_lateness(Attempt("d", Path("d"), (), submitted_at=when), due, policy).loss(
        Fraction(earned), Fraction(100)
    )


@pytest.mark.parametrize(
    ("late", "taken"),
    [
        (-DAY, 0),
        (timedelta(0), 0),  # exactly at the deadline
        (MICROSECOND, 7),
        (SECOND, 7),
        (2 * HOUR, 7),
        (DAY, 7),  # exactly at the end of the first step
        (DAY + MICROSECOND, 21),
        (3 * DAY, 21),
        (3 * DAY + SECOND, 70),  # after the last step nothing counts
        (1000 * DAY, 70),
    ],
)
def test_step_begins_after_the_end_of_the_one_before(late: timedelta, taken: int) -> None:
    assert lost(POLICY, DUE + late) == taken


@pytest.mark.parametrize(
    ("late", "taken"),
    [(15 * timedelta(minutes=1), 0), (15 * timedelta(minutes=1) + MICROSECOND, 7), (DAY, 7), (DAY + SECOND, 21)],
)
def test_grace_period_takes_nothing(late: timedelta, taken: int) -> None:
    assert lost(Policy(due=DUE, grace=Span(0, 900, "15m"), late=STEPS), DUE + late) == taken


@pytest.mark.parametrize(
    ("late", "taken"),
    [(timedelta(0), 0), (SECOND, 7), (DAY, 7), (DAY + SECOND, 14), (4 * DAY, 28), (5 * DAY, 35), (50 * DAY, 35)],
)
def test_rate_takes_for_each_begun_day_up_to_its_bound(late: timedelta, taken: int) -> None:
    assert lost(Policy(due=DUE, late=RATE), DUE + late) == taken


@pytest.mark.parametrize(
    ("minus", "floor", "earned", "days_late", "taken"),
    [
        (share(10, of_maximum=True), Amount(), 70, 2, 20),
        (share(10, of_maximum=True), Amount(), 15, 2, 15),  # never below zero
        (share(10, of_maximum=True), share(20, of_maximum=True), 70, 9, 50),
        (share(10, of_maximum=True), share(20, of_maximum=True), 15, 9, 0),  # what is below the floor stays
        (Amount(points=Fraction(5, 2)), Amount(points=Fraction(60)), 70, 2, 5),
        (Amount(points=Fraction(5, 2)), Amount(points=Fraction(60)), 70, 9, 10),
        (share(10), Amount(), 0, 3, 0),
    ],
)
def test_rate_and_floor(minus: Amount, floor: Amount, earned: int, days_late: int, taken: int) -> None:
    assert lost(Policy(due=DUE, late=Rate(days(1), minus, floor)), DUE + days_late * DAY, earned) == taken


@pytest.mark.parametrize(
    ("due", "span", "in_time"),
    [
        # The clock goes back in this night: a day has 25 hours, and 24 hours are 24 hours.
        (datetime(2026, 10, 24, 23, 59, tzinfo=VIENNA), days(1), 25 * HOUR),
        (datetime(2026, 10, 24, 23, 59, tzinfo=VIENNA), hours(24), 24 * HOUR),
        # It goes forward: a day has 23.
        (datetime(2026, 3, 28, 23, 59, tzinfo=VIENNA), days(1), 23 * HOUR),
        (datetime(2026, 3, 28, 23, 59, tzinfo=VIENNA), hours(24), 24 * HOUR),
        # An offset alone knows no clocks.
        (datetime(2026, 10, 24, 21, 59, tzinfo=UTC), days(1), 24 * HOUR),
    ],
)
def test_days_follow_the_clock(due: datetime, span: Span, in_time: timedelta) -> None:
    policy = Policy(due=due, late=(Step(span, minus=share(10)), Step(None, minus=share(50))))
    end = due.astimezone(UTC) + in_time
    assert [lost(policy, end, due=due), lost(policy, end + SECOND, due=due)] == [7, 35]


def test_hour_that_clocks_show_twice() -> None:
    """Python calls 02:30 the same in both hours, where the two times share one zone."""
    due = datetime(2026, 10, 25, 2, 30, tzinfo=VIENNA, fold=0)
    policy = Policy(due=due, late=STEPS)
    assert lost(policy, due.replace(fold=1), due=due) == 7
    assert lost(policy, due, due=due.replace(fold=1)) == 0


@pytest.mark.parametrize(
    ("closes", "due", "late", "taken"),
    [
        (days(7), DUE, 7 * DAY, 0),
        (days(7), DUE, 7 * DAY + SECOND, 70),
        (DUE + 2 * DAY, DUE, 2 * DAY, 0),
        (DUE + 2 * DAY, DUE, 2 * DAY + SECOND, 70),
        (DUE + 2 * DAY, DUE + 5 * DAY, 5 * DAY, 0),  # an extension beyond the last date moves it
        (DUE + 2 * DAY, DUE + 5 * DAY, 5 * DAY + SECOND, 70),
        (days(7), DUE + 5 * DAY, 12 * DAY, 0),
    ],
)
def test_last_date(closes: datetime | Span, due: datetime, late: timedelta, taken: int) -> None:
    assert lost(Policy(due=DUE, closes=closes), DUE + late, due=due) == taken


def test_unknown_time() -> None:
    attempt = Attempt("ada/1", Path("d"), (), late=True)
    unknown = compute_lateness(attempt, DUE, POLICY)
    assert unknown.counts and unknown.loss(Fraction(70), Fraction(100)) == 0
    assert unknown.sentence(Fraction(0)) == (
        "when ada/1 was submitted is not known, though its source calls it late: nothing is taken off"
    )


def test_time_without_a_zone() -> None:
    with pytest.raises(UsageError, match="has no time zone"):
        lost(POLICY, DUE.replace(tzinfo=None))


@pytest.mark.parametrize(
    "when", [datetime.max.replace(tzinfo=ZoneInfo("America/New_York")), datetime.max.replace(tzinfo=UTC)]
)
@pytest.mark.parametrize("policy", [POLICY, Policy(due=DUE, late=RATE), Policy(due=DUE, closes=days(1))])
def test_last_moment_does_not_overflow(when: datetime, policy: Policy) -> None:
    assert lost(policy, when) >= 35


@pytest.mark.parametrize("late", [0, 1, 86_399, 86_400, 86_401, 10 * 86_400])
def test_begun_spans(late: int) -> None:
    by_hand = next(n for n in range(1, 100) if late <= n * 86_400)
    assert count_begun_spans(DUE, days(1), DUE + timedelta(seconds=late)) == by_hand
    assert count_begun_spans(DUE, hours(24), DUE + timedelta(seconds=late)) == by_hand


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (timedelta(hours=2, minutes=10, seconds=59), "2 h 10 min"),
        (timedelta(days=3, minutes=5), "3 d"),
        (timedelta(seconds=1), "1 s"),
        (MICROSECOND, "less than a second"),
        (timedelta(days=1, hours=1), "1 d 1 h"),
    ],
)
def test_length_in_words(time: timedelta, words: str) -> None:
    assert format_length(time) == words


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows takes its zone from no variable")
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue", "Europe/Vienna", "America/St_Johns"])
def test_zone_of_the_machine(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the zone in which a platform gives the time of an attempt."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for late, taken in ((timedelta(0), 0), (SECOND, 7), (DAY, 7), (DAY + SECOND, 21)):
            for other in (UTC, VIENNA, ZoneInfo(zone)):
                assert lost(POLICY, (DUE + late).astimezone(other)) == taken
    finally:
        monkeypatch.undo()
        time.tzset()
