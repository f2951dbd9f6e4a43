"""The records of a class: add rows and read them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.engine import URL

from viva.model import Attempt, Score
from viva.model.reason import Reason
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import insert_or, open_database, parts, writing
from viva.plugins.records.database_tables import attempts, call_logs, scores
from viva.plugins.records.row_packing import attempt_from, attempt_to, pack_score, unpack_score
from viva.plugins.records.stored_scores import (
    StoredScore,
    current_numbers,
    rows_of,
    rows_of_latest,
    score_rows,
    stored_score_of,
)

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow

GRADED: Final = "graded"
REGRADED: Final = "regraded"


@dataclass(frozen=True, slots=True)
class NewScore:
    """A score to store; see `Records.add_score`."""

    attempt_id: int
    score: Score
    conditions: Conditions
    reason: Reason
    kind: str
    call_log_id: int | None
    once: bool = True


class Records:
    """The records of one course; a context manager. Each call is a separate transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, url: str | URL, folder: Path) -> Self:
        """Open the records at a URL; see `open_database`, also for the errors that it raises."""
        return cls(open_database(url, folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    # --- adding

    def add_attempts(self, assignment: str, submitted: Iterable[tuple[Attempt, str]]) -> list[int]:
        """Store attempts, each once, and return their numbers; the bytes themselves are not stored.

        Args:
            assignment: its name.
            submitted: each attempt, and the hash of its content.
        """
        rows = {}
        order = []
        for attempt, content_hash in submitted:
            row = {"assignment": assignment, "content_hash": content_hash, **attempt_to(attempt)}
            digest = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
            order.append(digest)
            rows[digest] = {**row, "digest": digest, "at": now()}
        with self.engine.connect() as connection:
            known = _numbers(connection, order)
        if missing := [rows[digest] for digest in rows if digest not in known]:
            with writing(self.engine) as connection:
                statement = insert_or(connection)(attempts).on_conflict_do_nothing(index_elements=["digest"])
                connection.execute(statement, missing)
                known = _numbers(connection, order)
        return [known[digest] for digest in order]

    def add_score(
        self,
        attempt_id: int,
        score: Score,
        conditions: Conditions,
        reason: Reason,
        *,
        call_log: bytes = b"",
        once: bool = True,
    ) -> int | None:
        """Store a score and its call log.

        Args:
            attempt_id: as `add_attempts` returned it.
            score: the score.
            conditions: under which it was made.
            reason: who had it graded, and why.
            call_log: requests and answers.
            once: of two whole gradings of an attempt under the same conditions, store the first one only.

        Returns:
            Its number; None if another process has stored the same grading since.
        """
        with writing(self.engine) as connection:
            return add_graded(connection, attempt_id, score, conditions, reason, call_log=call_log, once=once)

    # --- reading

    def current(self, assignment: str, name: str | None = None) -> list[StoredScore]:
        """Return the latest score of every attempt, by name; attempts of one name from the first to the last.

        A submission that replaces an earlier one is not a separate attempt: see `current_scores`.

        Args:
            assignment: its name.
            name: of a submission; None for all.
        """
        return [*self.each_current(assignment, name)]

    def each_current(self, assignment: str, name: str | None = None) -> Iterator[StoredScore]:
        """Yield the same one by one: of a large class, only a part is in memory."""
        return (stored_score_of(row) for row in self.current_rows(assignment, name))

    def current_rows(self, assignment: str, name: str | None = None) -> "Iterator[StoredRow]":
        """Yield the same as rows with packed scores: columns of `scores` and of `attempts`."""
        with self.engine.connect() as connection:
            chosen = current_numbers(connection, assignment, name)
        return rows_of(self.engine, chosen)

    def count_current(self, assignment: str, made_with: str, seed: str) -> tuple[int, int]:
        """Return how many scores `current` reads, and how many of them other tests or another secret made."""
        with self.engine.connect() as connection:
            chosen = current_numbers(connection, assignment)
            others = 0
            for part in parts(chosen):
                is_other = (scores.c.made_with != made_with) | ~scores.c.signature.contains(seed)
                of_others = scores.c.id.in_(part) & is_other
                others += connection.execute(select(func.count()).select_from(scores).where(of_others)).scalar_one()
        return len(chosen), others

    def stored(self, numbers: Sequence[int]) -> Iterator[StoredScore]:
        """Yield scores with their attempts by their numbers; of one that was deleted since, nothing."""
        return (stored_score_of(row) for row in rows_of(self.engine, numbers))

    def score(self, number: int) -> Score:
        """Read a score by its number."""
        with self.engine.connect() as connection:
            return unpack_score(connection.execute(select(scores.c.score).where(scores.c.id == number)).scalar_one())

    def first_scored(self, assignment: str) -> dict[int, str]:
        """Return when each attempt of an assignment got its first score, as stored text."""
        first = (
            select(scores.c.attempt_id, func.min(scores.c.at))
            .join(attempts, scores.c.attempt_id == attempts.c.id)
            .where(attempts.c.assignment == assignment)
            .group_by(scores.c.attempt_id)
        )
        with self.engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(first)}

    def latest(self, attempt_ids: Iterable[int]) -> dict[int, StoredScore]:
        """Return the latest score of each of these attempts that has one."""
        return {row.attempt_id: stored_score_of(row) for row in rows_of_latest(self.engine, attempt_ids)}

    def history(self, student: str) -> list[StoredScore]:
        """Return every score of a student, found by id, name, email or submission, from the first to the last."""
        columns = [column for column in attempts.c if column.name not in ("at", "digest")]
        with self.engine.connect() as connection:
            all_of_them = connection.execute(select(*columns))
            theirs = [row.id for row in all_of_them if attempt_from(row).is_called(student)]
            rows = connection.execute(score_rows().where(scores.c.attempt_id.in_(theirs)).order_by(scores.c.id))
            return [stored_score_of(row) for row in rows]

    def call_log(self, call_log_id: int | None) -> bytes:
        """Read a call log by its number; empty where there is none."""
        if call_log_id is None:
            return b""
        with self.engine.connect() as connection:
            found = connection.execute(select(call_logs.c.data).where(call_logs.c.id == call_log_id)).scalar()
        return bytes(found or b"")

    def assignments(self) -> list[str]:
        """Return the names of assignments that have records."""
        with self.engine.connect() as connection:
            return list(connection.execute(select(attempts.c.assignment).distinct().order_by("assignment")).scalars())


def add_graded(
    connection: Connection,
    attempt_id: int,
    score: Score,
    conditions: Conditions,
    reason: Reason,
    *,
    call_log: bytes,
    once: bool,
) -> int | None:
    """Store a score and its call log in an open transaction; see `Records.add_score`."""
    call_log_id = add_call_log(connection, call_log)
    return add_score(connection, NewScore(attempt_id, score, conditions, reason, GRADED, call_log_id, once))


def add_score(connection: Connection, new: NewScore) -> int | None:
    """Add a row to `scores` in an open transaction; see `Records.add_score`."""
    conditions = new.conditions
    statement = insert_or(connection)(scores).on_conflict_do_nothing(index_elements=["identity"])
    row = {
        "attempt_id": new.attempt_id,
        "identity": conditions.identity(new.attempt_id) if conditions.whole and new.once else None,
        "conditions": conditions.to_json(),
        "kind": new.kind,
        "version": new.score.version,
        "made_with": conditions.tests,
        "signature": json.dumps(dict(new.score.signature)),
        "tier": new.score.isolation.tier,
        "earned": str(new.score.earned),
        "points": str(new.score.points),
        "still_open": str(new.score.still_open),
        "wall_s": new.score.wall_s,
        "score": pack_score(new.score),
        "call_log_id": new.call_log_id,
        "by": new.reason.by,
        "why": new.reason.why,
        "at": now(),
    }
    number = connection.execute(statement.returning(scores.c.id), row).scalar()
    return None if number is None else int(number)


def add_call_log(connection: Connection, data: bytes) -> int | None:
    """Add a row to `call_logs` and return its number; None where there is nothing to store."""
    if not data:
        return None
    key = connection.execute(insert(call_logs), {"data": data}).inserted_primary_key
    return None if key is None else int(key[0])


def now() -> str:
    """Return the present time as it is stored: UTC, to the microsecond, so that texts sort as times do."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _numbers(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    """Return the numbers of attempts that are stored already, by digest."""
    found: dict[str, int] = {}
    for part in parts(digests):
        query = select(attempts.c.digest, attempts.c.id).where(attempts.c.digest.in_(part))
        found.update((row.digest, row.id) for row in connection.execute(query))
    return found
