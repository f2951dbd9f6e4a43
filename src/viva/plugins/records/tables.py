"""The tables. Rows are added and read; only a student's request deletes any.

A row is changed in three cases: a proposal is complete, a proposed score is decided, a claim is renewed.

Times are texts, UTC in ISO 8601, because SQLite has no time zones; points are exact fractions as texts.
"""

import contextlib
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import msgpack
from sqlalchemy import Dialect, ForeignKey, Index, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from viva.model import Attempt, Score, Student
from viva.model.errors import UsageError
from viva.model.plain import from_plain, to_plain
from viva.plugins.records.conditions import Conditions

SCHEMA_VERSION: Final = 1
GRADED: Final = "graded"
REGRADED: Final = "regraded"
_SURROGATES: Final = "surrogatepass"
"""A student's text may contain lone surrogates; it is escaped where it is shown."""


def now() -> str:
    """Return the present time as it is stored: UTC, to the microsecond, so that texts sort as times do."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def pack_score(score: Score) -> bytes:
    """Pack a whole score into bytes."""
    return zlib.compress(msgpack.packb(to_plain(score), use_bin_type=True, unicode_errors=_SURROGATES))


def unpack_score(data: bytes) -> Score:
    """Unpack what `pack_score` returned.

    Raises:
        UsageError: it is damaged.
    """
    with report_damage():
        return from_plain(Score, msgpack.unpackb(zlib.decompress(data), raw=False, unicode_errors=_SURROGATES))


@contextlib.contextmanager
def report_damage() -> Iterator[None]:
    """Raise a sentence where a stored value is not what was written.

    Raises:
        UsageError: it is damaged.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise UsageError(
            f"A row of the records is damaged ({type(error).__name__}: {error}). Put a backup in their place."
        ) from None


class StoredJson(TypeDecorator[Any]):
    """A value as JSON; damaged text is reported as damage of the records."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        """Return the text to store."""
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: Any, _dialect: Dialect) -> Any:
        """Return the stored value."""
        with report_damage():
            return None if value is None else json.loads(value)


class Points(TypeDecorator[Fraction]):
    """Exact points, stored as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Fraction | None, dialect: Dialect) -> str | None:
        """Return the text to store."""
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Fraction | None:
        """Return the points.

        Raises:
            UsageError: the text is damaged.
        """
        with report_damage():
            return None if value is None else Fraction(value)


class Base(DeclarativeBase):
    """All tables."""

    type_annotation_map = {str: Text, Fraction: Points, Any: StoredJson}  # noqa: RUF012  # SQLAlchemy's name


class Signed:
    """Who added a row, why, and when."""

    by: Mapped[str]
    why: Mapped[str]
    at: Mapped[str] = mapped_column(default=now)


class SchemaVersion(Base):
    """The version of the tables: one row."""

    __tablename__ = "viva_schema"

    version: Mapped[int] = mapped_column(primary_key=True)


class AttemptRow(Base):
    """One submitted attempt."""

    __tablename__ = "attempts"
    __table_args__ = (Index("attempts_by_name", "assignment", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment: Mapped[str]
    content_hash: Mapped[str]
    digest: Mapped[str] = mapped_column(unique=True)
    """Of everything else: the same attempt is not stored twice."""
    name: Mapped[str]
    path: Mapped[str]
    students: Mapped[Any]
    submitted_at: Mapped[str | None]
    late: Mapped[bool | None]
    number: Mapped[int]
    team: Mapped[str]
    source: Mapped[str]
    also: Mapped[Any]
    at: Mapped[str] = mapped_column(default=now)

    @classmethod
    def create(cls, assignment: str, content_hash: str, attempt: Attempt) -> "AttemptRow":
        """Return the row of an attempt."""
        moment = attempt.submitted_at
        values: dict[str, Any] = {
            "assignment": assignment,
            "content_hash": content_hash,
            "name": attempt.name,
            "path": str(attempt.path),
            "students": [{**asdict(student), "also": dict(student.also)} for student in attempt.students],
            "submitted_at": None if moment is None else moment.isoformat(),
            "late": attempt.late,
            "number": attempt.number,
            "team": attempt.team,
            "source": attempt.source,
            "also": dict(attempt.also),
        }
        return cls(**values, digest=hash_plain(values))

    @property
    def attempt(self) -> Attempt:
        """Return the attempt.

        Raises:
            UsageError: the row is damaged.
        """
        with report_damage():
            return Attempt(
                name=self.name,
                path=Path(self.path),
                students=tuple(Student(**student) for student in self.students),
                submitted_at=None if self.submitted_at is None else datetime.fromisoformat(self.submitted_at),
                late=self.late,
                number=self.number,
                team=self.team,
                source=self.source,
                also=self.also,
            )


class CallLogRow(Base):
    """The call log of a score."""

    __tablename__ = "call_logs"

    id: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes]


class ScoreRow(Signed, Base):
    """One grading of an attempt."""

    __tablename__ = "scores"

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    attempt_row: Mapped[AttemptRow] = relationship(lazy="joined", innerjoin=True)
    identity: Mapped[str | None] = mapped_column(unique=True)
    """Equal for gradings that must be equal; none where both are to be stored."""
    conditions: Mapped[str]
    """JSON; see `Conditions`."""
    made_with: Mapped[str]
    """Digest of tests, key and data."""
    seed: Mapped[str]
    kind: Mapped[str]
    packed: Mapped[bytes]
    """See `pack_score`."""
    call_log_id: Mapped[int | None] = mapped_column(ForeignKey("call_logs.id"))


class Override(Signed, Base):
    """The points of one test of one submission, set by a person."""

    __tablename__ = "overrides"
    __table_args__ = (Index("overrides_by_name", "assignment", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment: Mapped[str]
    name: Mapped[str]
    """The name of the submission."""
    test_id: Mapped[str]
    earned: Mapped[Fraction | None]
    """None: the previous override was undone."""


class ProposalRow(Signed, Base):
    """One regrade."""

    __tablename__ = "proposals"

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment: Mapped[str]
    complete: Mapped[bool] = mapped_column(default=False)
    """Whether the regrade came to its end."""


class ProposedScore(Base):
    """A score that a regrade would change."""

    __tablename__ = "proposed"

    id: Mapped[int] = mapped_column(primary_key=True)
    proposal_id: Mapped[int] = mapped_column(ForeignKey("proposals.id"), index=True)
    proposal: Mapped[ProposalRow] = relationship(lazy="joined", innerjoin=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"))
    old_score_id: Mapped[int] = mapped_column(ForeignKey("scores.id"))
    packed: Mapped[bytes]
    conditions: Mapped[str]
    call_log_id: Mapped[int | None] = mapped_column(ForeignKey("call_logs.id"))
    applied: Mapped[bool | None]
    """None while nobody has decided."""
    decided_by: Mapped[str] = mapped_column(default="")
    decided_why: Mapped[str] = mapped_column(default="")
    decided_at: Mapped[str] = mapped_column(default="")


class ReviewRow(Signed, Base):
    """A marker's decision about one answer; see `viva.model.hand_grading`."""

    __tablename__ = "reviews"
    __table_args__ = (
        Index("reviews_by_place", "assignment", "content_hash", "question"),
        Index("reviews_in_order", "assignment", "id"),  # clients ask for new rows every few seconds
        Index("reviews_by_action", "action"),
        {"sqlite_autoincrement": True},  # the number of a deleted row is never used again: `since` relies on it
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    action: Mapped[str]
    """Groups rows made at once: one row, or one for each answer of a group."""
    assignment: Mapped[str]
    content_hash: Mapped[str]
    question: Mapped[str]
    kind: Mapped[str]
    round: Mapped[int]
    items: Mapped[Any]
    adjust: Mapped[Fraction]
    comment: Mapped[str]
    done: Mapped[bool]
    earned: Mapped[Fraction]
    points: Mapped[Fraction]
    told: Mapped[str]
    undoes: Mapped[str]
    """An action; empty for none."""


class DeletionRow(Signed, Base):
    """A deletion at a student's request, without a name."""

    __tablename__ = "deletions"

    id: Mapped[int] = mapped_column(primary_key=True)
    rows: Mapped[Any]
    """How many of each table."""


class Claim(Base):
    """A grading that a grader works on at the moment."""

    __tablename__ = "claims"

    identity: Mapped[str] = mapped_column(primary_key=True)
    """See `Conditions.identity`."""
    attempt_id: Mapped[int] = mapped_column(index=True)
    holder: Mapped[str]
    until: Mapped[float]
    """Seconds since 1970."""


def conditions_of(row: ScoreRow | ProposedScore) -> Conditions:
    """Return the conditions under which a score was made.

    Raises:
        UsageError: they are damaged.
    """
    with report_damage():
        return Conditions.from_json(row.conditions)


def hash_plain(plain: object) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
