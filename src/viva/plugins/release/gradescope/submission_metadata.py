"""submission_metadata.json: who submitted, when, and what was submitted before.

The platform may add, rename or leave out anything, so every field is optional: what cannot be read counts as absent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from viva.model import untrusted

MOST_BYTES: Final = 16 << 20
MOST_PREVIOUS: Final = 10_000


@dataclass(frozen=True, slots=True)
class PreviousSubmission:
    """One earlier submission of the same student or group."""

    at: datetime
    score: float | None = None
    is_error: bool = False
    """The autograder failed, and the student got nothing for it."""
    results: Mapping[str, object] | None = None
    """Only the platform's latest previous submission has them."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields that could be read."""

    created_at: datetime | None = None
    previous: tuple[PreviousSubmission, ...] = ()
    """From the earliest to the latest, without those whose time is not known."""

    @classmethod
    def read(cls, path: Path) -> "Metadata":
        """Read the file; return empty metadata if anything is wrong with it."""
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            given = json.loads(data) if len(data) <= MOST_BYTES else None
        except (OSError, ValueError, RecursionError):
            given = None
        return cls.of(given)

    @classmethod
    def of(cls, given: object) -> "Metadata":
        """Read the metadata from what the file holds."""
        table = given if isinstance(given, dict) else {}
        rows = table.get("previous_submissions")
        listed = rows[-MOST_PREVIOUS:] if isinstance(rows, list) else []
        found = [previous for row in listed if (previous := _previous(row)) is not None]
        return cls(_moment(table.get("created_at")), tuple(sorted(found, key=lambda previous: previous.at)))


def _previous(row: object) -> PreviousSubmission | None:
    if not isinstance(row, dict) or (at := _moment(row.get("submission_time"))) is None:
        return None
    results = row.get("results")
    return PreviousSubmission(
        at=at,
        score=finite(row.get("score")),
        is_error=row.get("autograder_error") is True,
        results=results if isinstance(results, dict) else None,
    )


def _moment(value: object) -> datetime | None:
    """Return the time, in UTC if it has no zone: only the difference between two times matters."""
    try:
        when = datetime.fromisoformat(untrusted.text(value, 64))
        when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        when.astimezone(UTC)  # near the years 1 and 9999 this overflows
    except (ValueError, OverflowError):
        return None
    return when


def finite(value: object) -> float | None:
    """Return a number that JSON can hold, also if it is written as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e15 else None
