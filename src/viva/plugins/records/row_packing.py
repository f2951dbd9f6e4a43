"""Convert scores and attempts to rows: plain data, packed."""

import contextlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgpack

from viva.model import Attempt, Score, Student
from viva.model.errors import UsageError
from viva.model.plain import from_plain, to_plain

if TYPE_CHECKING:
    from sqlalchemy import Row, Select

    StoredRow = Row[*tuple[object, ...]]
    """A row of the records; its columns are read by their names."""
    StoredRows = Select[*tuple[object, ...]]
    """A query for such rows."""

SURROGATES: Final = "surrogatepass"
"""A student's text may contain lone surrogates; it is escaped where it is shown."""


def pack_score(score: Score) -> bytes:
    """Pack a whole score into bytes."""
    return zlib.compress(msgpack.packb(to_plain(score), use_bin_type=True, unicode_errors=SURROGATES))


@contextlib.contextmanager
def undamaged() -> Iterator[None]:
    """Raise a sentence where a value is not what was written: whoever reads it cannot go on."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise UsageError(
            f"A row of the records is damaged ({type(error).__name__}: {error}). Put a backup in their place; "
            "`viva doctor --records` says what can be saved."
        ) from None


def unpack_score(data: bytes) -> Score:
    """Unpack what `pack_score` returned.

    Raises:
        UsageError: it is damaged.
    """
    with undamaged():
        return from_plain(Score, msgpack.unpackb(zlib.decompress(data), raw=False, unicode_errors=SURROGATES))


def attempt_to(attempt: Attempt) -> dict[str, object]:
    """Return the columns of an attempt."""
    moment = attempt.submitted_at
    return {
        "name": attempt.name,
        "path": str(attempt.path),
        "students": json.dumps([{**asdict(s), "also": dict(s.also)} for s in attempt.students]),
        "submitted_at": None if moment is None else moment.isoformat(),
        "late": attempt.late,
        "number": attempt.number,
        "team": attempt.team,
        "source": attempt.source,
        "also": json.dumps(dict(attempt.also), sort_keys=True),
    }


def attempt_from(row: "StoredRow") -> Attempt:
    """Rebuild an attempt from a row with the columns of `attempt_to`.

    Raises:
        UsageError: it is damaged.
    """
    with undamaged():
        return Attempt(
            name=row.name,
            path=Path(row.path),
            students=tuple(Student(**student) for student in json.loads(row.students)),
            submitted_at=moment_from(row.submitted_at),
            late=None if row.late is None else bool(row.late),
            number=row.number,
            team=row.team,
            source=row.source,
            also=json.loads(row.also),
        )


@lru_cache
def points_from(text: str) -> Fraction:
    """Return stored points; a class has few different ones."""
    return Fraction(text)


def moment_from(text: str | None) -> datetime | None:
    """Read a stored moment; one that was stored without a zone has none.

    Raises:
        UsageError: it is damaged.
    """
    with undamaged():
        return None if text is None else datetime.fromisoformat(text)
