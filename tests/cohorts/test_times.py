"""Times as exports write them."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from viva.plugins.cohorts.exports.times import parse_english_time, parse_iso_time

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-05 11:07:00.5 +02:00", datetime(2026, 10, 5, 11, 7, 0, 500_000, EAST)),
        ("2026-10-05T11:07:00+0200", datetime(2026, 10, 5, 11, 7, tzinfo=EAST)),
        ("2026-10-05 11:07:00.123456789 Z", datetime(2026, 10, 5, 11, 7, 0, 123_456, UTC)),
        ("2026-10-05 11:07:00 UTC", datetime(2026, 10, 5, 11, 7, tzinfo=UTC)),
        ("2026-10-05 11:07:00 Europe/Zurich", datetime(2026, 10, 5, 11, 7, tzinfo=ZoneInfo("Europe/Zurich"))),
        (datetime(2026, 10, 5, tzinfo=EAST), datetime(2026, 10, 5, tzinfo=EAST)),
        (datetime(2026, 10, 5), None),
        ("2026-10-05 11:07:00", None),
        ("2026-10-05 11:07:00 Middle/Earth", None),
        ("2026-10-05 11:07:00 ../../../../etc/passwd", None),
        ("2026-10-05 11:07:00 /etc/passwd", None),
        ("2026-10-05 11:07:00 Europe", None),
        ("2026-10-05 11:07:00 +99:99", None),
        ("2026-02-30 11:07:00 UTC", None),
        ("5 Oct", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_iso_time_needs_a_zone(text: object, moment: datetime | None) -> None:
    assert parse_iso_time(text) == moment


def test_default_zone() -> None:
    assert parse_iso_time("2026-10-05 11:07:00", without_zone=UTC) == datetime(2026, 10, 5, 11, 7, tzinfo=UTC)
    assert parse_iso_time("2026-10-05 11:07:00 +02:00", without_zone=UTC) == datetime(2026, 10, 5, 11, 7, tzinfo=EAST)
    assert parse_iso_time("2026-10-05 11:07:00 Middle/Earth", without_zone=UTC) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Oct 5, 2026 1107 AM", datetime(2026, 10, 5, 11, 7)),
        ("October 5, 2026 11:07 PM", datetime(2026, 10, 5, 23, 7)),
        ("Oct 5, 2026 1207 AM", datetime(2026, 10, 5, 0, 7)),
        ("Oct 5, 2026 1207 PM", datetime(2026, 10, 5, 12, 7)),
        ("Sep. 30, 2026 107 p.m.", datetime(2026, 9, 30, 13, 7)),
        ("Oct 5, 2026 2307", datetime(2026, 10, 5, 23, 7)),
        ("Oct 5, 2026 1307 AM", None),
        ("Oct 32, 2026 1107 AM", None),
        ("Okt 5, 2026 1107", None),
        ("5 Oct 2026", None),
    ],
)
def test_english_time_is_read_with_its_half_of_day(text: str, moment: datetime | None) -> None:
    assert parse_english_time(text) == moment
