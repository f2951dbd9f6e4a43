"""Read times as exports write them; a time without a zone is unknown."""

import contextlib
import re
from datetime import datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENGLISH: Final = re.compile(
    r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}), (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2})[:.]?(?P<minute>\d{2})(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_ISO: Final = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?)\s*([+-]\d\d:?\d\d|Z|UTC|GMT|)(\S{0,64})")


def parse_iso_time(text: object, *, without_zone: tzinfo | None = None) -> datetime | None:
    """Read `2026-10-05 11:07:00.5 +0200`, `…Z`, `… UTC` or `… Europe/Zurich`; return None for anything else.

    Args:
        text: the value in the export; one that a YAML reader has turned into a time is accepted too.
        without_zone: the zone of a time that has none; None: such a time is unknown.
    """
    moment, zone = text, without_zone
    if isinstance(text, str):
        match = _ISO.fullmatch(text.strip())
        if match is None:
            return None
        # A name that leads elsewhere, an unknown one, or a folder of zones is no zone.
        with contextlib.suppress(ValueError, KeyError, OSError):
            zone = ZoneInfo(match[3]) if match[3] else without_zone
            offset = "Z" if match[2] in ("UTC", "GMT") else match[2]  # known without a database of zones
            moment = datetime.fromisoformat(match[1] + offset)
    if not isinstance(moment, datetime) or (moment.tzinfo is None and zone is None):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def parse_english_time(text: str) -> datetime | None:
    """Read `Oct 5, 2026 1107 AM`, without a zone; return None for anything else."""
    match = _ENGLISH.fullmatch(text.strip())
    if match is None or match["month"][:3].lower() not in _MONTHS:
        return None
    hour = int(match["hour"])
    if match["half"] and not 1 <= hour <= 12:
        return None
    if match["half"]:
        hour %= 12
        hour += 12 * (match["half"] in "Pp")
    month = _MONTHS.index(match["month"][:3].lower()) + 1
    with contextlib.suppress(ValueError):
        return datetime(int(match["year"]), month, int(match["day"]), hour, int(match["minute"]))
    return None
