"""Scores and submissions as rows: plain data, packed."""

import json
import zlib
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import msgpack

from viva.model import Attempt, Score, Student
from viva.model.plain import score_from_plain, score_to_plain

_SURROGATES = "surrogatepass"
"""A student's text may hold lone surrogates; it passes its gate where it is shown."""


def pack_score(score: Score) -> bytes:
    """A whole score as bytes."""
    return zlib.compress(msgpack.packb(score_to_plain(score), use_bin_type=True, unicode_errors=_SURROGATES))


def unpack_score(data: bytes) -> Score:
    """The inverse of `pack_score`."""
    return score_from_plain(unpack_plain(data))


def unpack_plain(data: bytes) -> dict[str, Any]:
    """A packed score as the plain data that `score_to_plain` makes, in an eighth of the time."""
    plain: dict[str, Any] = msgpack.unpackb(zlib.decompress(data), raw=False, unicode_errors=_SURROGATES)
    return plain


def attempt_to(attempt: Attempt) -> dict[str, Any]:
    """The columns of a submission."""
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


def attempt_from(row: Any) -> Attempt:
    """The inverse of `attempt_to`, of a row that has its columns."""
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


def moment_from(text: str | None) -> datetime | None:
    """The inverse of how a moment is kept; one that was kept without a zone comes back without it."""
    return None if text is None else datetime.fromisoformat(text)
