"""Read stored scores, a part of the class at a time: what is read is as large as a part, however large the class is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Engine, func, select, true

from viva.model import ScoredAttempt
from viva.plugins.records.attempt_rows import current_scores
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import parts
from viva.plugins.records.database_tables import attempts, scores
from viva.plugins.records.row_packing import attempt_from, undamaged, unpack_score

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow, StoredRows


@dataclass(frozen=True, slots=True)
class StoredScore:
    """A score as it is in the records."""

    id: int
    attempt_id: int
    scored: ScoredAttempt
    kind: str
    """"graded", or "regraded"."""
    made_with: str
    """Digest of the tests, the key and the data with which it was graded."""
    by: str
    why: str
    at: datetime
    call_log_id: int | None
    """The call log with requests and answers; None where none was stored."""
    conditions: Conditions | None = None
    """Under which conditions it was made; None if an earlier viva stored it."""


class CurrentScore(NamedTuple):
    """A score that counts, without what is in it."""

    id: int
    attempt_id: int
    name: str
    """Of the submission."""


def current_list(connection: Connection, assignment: str, name: str | None = None) -> list[CurrentScore]:
    """Return which scores `Records.current` reads, in its order."""
    last = (
        select(func.max(scores.c.id))
        .join(attempts, scores.c.attempt_id == attempts.c.id)
        .where(attempts.c.assignment == assignment, attempts.c.name == name if name is not None else true())
        .group_by(scores.c.attempt_id)
    )
    light = (
        select(scores.c.id, scores.c.attempt_id, attempts.c.name, attempts.c.number, attempts.c.submitted_at)
        .join(attempts, scores.c.attempt_id == attempts.c.id)
        .where(scores.c.id.in_(last))
        .order_by(scores.c.id)
    )
    rows = connection.execute(light).all()
    of_id = {row.id: CurrentScore(row.id, row.attempt_id, row.name) for row in rows}
    return [of_id[number] for number in current_scores(rows)]


def current_numbers(connection: Connection, assignment: str, name: str | None = None) -> list[int]:
    """Return the numbers of the scores that `Records.current` reads, in its order."""
    return [each.id for each in current_list(connection, assignment, name)]


def rows_of(engine: Engine, numbers: Sequence[int]) -> "Iterator[StoredRow]":
    """Yield the rows of scores, in the order of their numbers in the list; of one that was deleted since, nothing.

    No connection is open while a row is used.
    """
    for part in parts(numbers):
        with engine.connect() as connection:
            found = {row.id: row for row in connection.execute(score_rows().where(scores.c.id.in_(part)))}
        yield from (found[number] for number in part if number in found)


def rows_of_latest(engine: Engine, attempt_ids: Iterable[int]) -> "Iterator[StoredRow]":
    """Yield the row of the latest score of each of these attempts that has one."""
    for part in parts([*attempt_ids]):
        last = select(func.max(scores.c.id)).where(scores.c.attempt_id.in_(part)).group_by(scores.c.attempt_id)
        with engine.connect() as connection:
            rows = connection.execute(score_rows().where(scores.c.id.in_(last))).all()
        yield from rows


def score_rows() -> "StoredRows":
    """Return the query for scores with their attempts."""
    others = [column for column in attempts.c if column.name not in ("id", "at", "digest")]
    return select(scores, *others).join(attempts, scores.c.attempt_id == attempts.c.id)


def stored_score_of(row: "StoredRow") -> StoredScore:
    """Convert a row of `score_rows` to a value.

    Raises:
        UsageError: it is damaged.
    """
    scored = ScoredAttempt(attempt_from(row), unpack_score(row.score))
    with undamaged():
        return StoredScore(
            id=row.id,
            attempt_id=row.attempt_id,
            scored=scored,
            kind=row.kind,
            made_with=row.made_with,
            by=row.by,
            why=row.why,
            at=datetime.fromisoformat(row.at),
            call_log_id=row.call_log_id,
            conditions=Conditions.from_json(row.conditions),
        )
