"""Read times as exports write them; a time without a zone is unknown."""

import contextlib
import re
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENGLISH: Final = re.compile(
    r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}), (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2})[:.]?(?P<minute>\d{2})(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_ISO: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?\s*(\S{0,64})")


def of_iso(text: object, *, without_zone: tzinfo | None = None) -> datetime | None:
    """Read `2026-10-05 11:07:00.5 +0200`, `…Z`, `… UTC` or `… Europe/Zurich`; return None for anything else.

    Args:
        text: the value in the export; one that a YAML reader has turned into a time is accepted too.
        without_zone: the zone of a time that has none; None: such a time is unknown.
    """
    if isinstance(text, datetime):
        return text if text.tzinfo is not None else _at(text, without_zone)
    match = _ISO.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    day, time, fraction, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}.{(fraction or '0').ljust(6, '0')}")
    except ValueError:
        return None
    return _at(moment, _zone(zone) if zone else without_zone)


def of_english(text: str) -> datetime | None:
    """Read `Oct 5, 2026 1107 AM`, without a zone; return None for anything else."""
    match = _ENGLISH.fullmatch(text.strip())
    if match is None or match["month"][:3].lower() not in _MONTHS:
        return None
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"] in "Pp" else 0)
    month = _MONTHS.index(match["month"][:3].lower()) + 1
    with contextlib.suppress(ValueError):
        return datetime(int(match["year"]), month, int(match["day"]), hour, int(match["minute"]))
    return None


def _zone(name: str) -> tzinfo | None:
    if name in ("Z", "UTC", "GMT"):
        return UTC
    if re.fullmatch(r"[+-]\d\d:?\d\d", name):
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):  # a name that leads elsewhere, an unknown one, a folder
        return None


def _at(moment: datetime, zone: tzinfo | None) -> datetime | None:
    return moment.replace(tzinfo=zone) if zone is not None else None
