"""The records of a class: add rows and read them.

What is read is read a part of the class at a time, so that it takes the memory of one part, however large the class is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, Self

from sqlalchemy import Engine, func, select
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

from viva.model import Attempt, Score, ScoredAttempt
from viva.model.reason import Reason
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import open_database, split_values, write_session
from viva.plugins.records.tables import (
    GRADED,
    AttemptRow,
    CallLogRow,
    ScoreRow,
    conditions_of,
    pack_score,
    report_damage,
    unpack_score,
)

_UNKNOWN: Final = datetime.min.replace(tzinfo=UTC)


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
    conditions: Conditions
    """Under which conditions it was made."""


@dataclass(frozen=True, slots=True)
class NewScore:
    """A score to store."""

    attempt_id: int
    """As `Records.add_attempts` returned it."""
    score: Score
    conditions: Conditions
    """Under which it was made."""
    reason: Reason
    """Who had it graded, and why."""
    call_log_id: int | None = None
    kind: str = GRADED
    once: bool = True
    """Of two whole gradings of an attempt under the same conditions, store the first one only."""


class CurrentScore(NamedTuple):
    """A score that counts, without what is in it."""

    id: int
    attempt_id: int
    name: str
    """Of the submission."""


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

    def read(self) -> Session:
        """Return a session that reads; a context manager."""
        return Session(self.engine)

    # --- adding

    def add_attempts(self, assignment: str, submitted: Iterable[tuple[Attempt, str]]) -> list[int]:
        """Store attempts, each once, and return their numbers; the bytes themselves are not stored.

        Args:
            assignment: its name.
            submitted: each attempt, and the hash of its content.
        """
        rows = [AttemptRow.create(assignment, content_hash, attempt) for attempt, content_hash in submitted]
        digests = [row.digest for row in rows]
        with self.read() as session:
            known = _find_attempts(session, digests)
        if not known.keys() >= set(digests):
            with write_session(self.engine) as session:
                known = _find_attempts(session, digests)
                session.add_all({row.digest: row for row in rows if row.digest not in known}.values())
                session.flush()
                known = _find_attempts(session, digests)
        return [known[digest] for digest in digests]

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
        """Store a score and its call log; see `NewScore` and `add_score`."""
        with write_session(self.engine) as session:
            call_log_id = add_call_log(session, call_log)
            return add_score(session, NewScore(attempt_id, score, conditions, reason, call_log_id, once=once))

    # --- reading

    def current(self, assignment: str, name: str | None = None) -> list[StoredScore]:
        """Return the latest score of every attempt, by name; attempts of one name from the first to the last.

        Args:
            assignment: its name.
            name: of a submission; None for all.
        """
        return [*self.each_current(assignment, name)]

    def each_current(self, assignment: str, name: str | None = None) -> Iterator[StoredScore]:
        """Yield the same one by one: of a large class, only a part is in memory."""
        return self.stored([each.id for each in self.list_current(assignment, name)])

    def list_current(self, assignment: str, name: str | None = None) -> list[CurrentScore]:
        """Return which scores `current` returns, in its order.

        Two submissions of one name are the same attempt if they have the same number and no two different times: a
        folder that was changed, or an export that was moved. The later score counts.
        """
        last = select(func.max(ScoreRow.id)).join(AttemptRow).where(AttemptRow.assignment == assignment)
        if name is not None:
            last = last.where(AttemptRow.name == name)
        query = (
            select(ScoreRow.id, ScoreRow.attempt_id, AttemptRow.name, AttemptRow.number, AttemptRow.submitted_at)
            .join(AttemptRow)
            .where(ScoreRow.id.in_(last.group_by(ScoreRow.attempt_id)))
            .order_by(ScoreRow.id)
        )
        with self.read() as session:
            rows = [_Latest(*row[:4], _parse_moment(row[4])) for row in session.execute(query)]
        by_name: dict[str, list[_Latest]] = {}
        for row in rows:
            before = by_name.get(row.name, [])
            by_name[row.name] = [*(other for other in before if not _is_same_attempt(other, row)), row]
        return [
            CurrentScore(row.id, row.attempt_id, row.name)
            for key in sorted(by_name)
            for row in sorted(by_name[key], key=lambda row: (row.number, row.moment, row.id))
        ]

    def count_current(self, assignment: str, made_with: str, seed: str) -> tuple[int, int]:
        """Return how many scores `current` reads, and how many of them other tests or another secret made."""
        current = [each.id for each in self.list_current(assignment)]
        is_other = (ScoreRow.made_with != made_with) | (ScoreRow.seed != seed)
        outdated = 0
        with self.read() as session:
            for part in split_values(current):
                query = select(func.count(ScoreRow.id)).where(ScoreRow.id.in_(part), is_other)
                outdated += session.scalars(query).one()
        return len(current), outdated

    def stored(self, numbers: Sequence[int]) -> Iterator[StoredScore]:
        """Yield scores with their attempts by their numbers; of one that was deleted since, nothing.

        No connection is open while a score is used.
        """
        for part in split_values(numbers):
            with self.read() as session:
                rows = {row.id: row for row in session.scalars(select(ScoreRow).where(ScoreRow.id.in_(part)))}
            yield from (stored_score(rows[number]) for number in part if number in rows)

    def score(self, number: int) -> Score:
        """Read a score by its number."""
        with self.read() as session:
            return unpack_score(session.scalars(select(ScoreRow.packed).where(ScoreRow.id == number)).one())

    def first_scored(self, assignment: str) -> dict[int, str]:
        """Return when each attempt of an assignment got its first score, as stored text."""
        of_assignment = select(ScoreRow.attempt_id, func.min(ScoreRow.at)).join(AttemptRow)
        query = of_assignment.where(AttemptRow.assignment == assignment).group_by(ScoreRow.attempt_id)
        with self.read() as session:
            return {number: at for number, at in session.execute(query)}  # noqa: C416  # rows are no pairs for mypy

    def latest(self, attempt_ids: Iterable[int]) -> dict[int, StoredScore]:
        """Return the latest score of each of these attempts that has one."""
        found: dict[int, StoredScore] = {}
        for part in split_values([*attempt_ids]):
            last = select(func.max(ScoreRow.id)).where(ScoreRow.attempt_id.in_(part)).group_by(ScoreRow.attempt_id)
            with self.read() as session:
                rows = session.scalars(select(ScoreRow).where(ScoreRow.id.in_(last))).all()
            found |= {row.attempt_id: stored_score(row) for row in rows}
        return found

    def history(self, student: str) -> list[StoredScore]:
        """Return every score of a student, found by id, name, email or submission, from the first to the last."""
        with self.read() as session:
            called = [row.id for row in session.scalars(select(AttemptRow)) if row.attempt.is_called(student)]
            query = select(ScoreRow).where(ScoreRow.attempt_id.in_(called)).order_by(ScoreRow.id)
            return [stored_score(row) for row in session.scalars(query)]

    def call_log(self, call_log_id: int | None) -> bytes:
        """Read a call log by its number; empty where there is none."""
        if call_log_id is None:
            return b""
        with self.read() as session:
            return session.scalar(select(CallLogRow.data).where(CallLogRow.id == call_log_id)) or b""

    def assignments(self) -> list[str]:
        """Return the names of assignments that have records."""
        with self.read() as session:
            return [*session.scalars(select(AttemptRow.assignment).distinct().order_by(AttemptRow.assignment))]


def add_score(session: Session, new: NewScore) -> int | None:
    """Add a score in an open transaction.

    Returns:
        Its number; None if another process has stored the same grading since.
    """
    conditions = new.conditions
    identity = conditions.identity(new.attempt_id) if conditions.whole and new.once else None
    if identity is not None and session.scalar(select(ScoreRow.id).where(ScoreRow.identity == identity)) is not None:
        return None
    row = ScoreRow(
        attempt_id=new.attempt_id,
        identity=identity,
        conditions=conditions.to_json(),
        made_with=conditions.tests,
        seed=conditions.seed,
        kind=new.kind,
        packed=pack_score(new.score),
        call_log_id=new.call_log_id,
        by=new.reason.by,
        why=new.reason.why,
    )
    session.add(row)
    session.flush()
    return row.id


def add_call_log(session: Session, data: bytes) -> int | None:
    """Add a call log and return its number; None if the log is empty."""
    if not data:
        return None
    row = CallLogRow(data=data)
    session.add(row)
    session.flush()
    return row.id


def stored_score(row: ScoreRow) -> StoredScore:
    """Return the score in a row.

    Raises:
        UsageError: it is damaged.
    """
    with report_damage():
        return StoredScore(
            id=row.id,
            attempt_id=row.attempt_id,
            scored=ScoredAttempt(row.attempt_row.attempt, unpack_score(row.packed)),
            kind=row.kind,
            made_with=row.made_with,
            by=row.by,
            why=row.why,
            at=datetime.fromisoformat(row.at),
            call_log_id=row.call_log_id,
            conditions=conditions_of(row),
        )


def _find_attempts(session: Session, digests: Sequence[str]) -> dict[str, int]:
    """Return the numbers of attempts that are stored already, by digest."""
    found: dict[str, int] = {}
    for part in split_values(digests):
        query = select(AttemptRow.digest, AttemptRow.id).where(AttemptRow.digest.in_(part))
        found.update((digest, number) for digest, number in session.execute(query))
    return found


class _Latest(NamedTuple):
    """The latest score of one submission, and when that was submitted."""

    id: int
    attempt_id: int
    name: str
    number: int
    moment: datetime


def _is_same_attempt(one: _Latest, two: _Latest) -> bool:
    return one.number == two.number and len({one.moment, two.moment} - {_UNKNOWN}) < 2


def _parse_moment(text: str | None) -> datetime:
    """Return when it was submitted; times without a zone are only compared with each other."""
    if text is None:
        return _UNKNOWN
    with report_damage():
        moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
