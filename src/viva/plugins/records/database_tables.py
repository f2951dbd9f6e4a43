"""The tables. Rows are added and read; nothing updates them, and only a student's request deletes any; but for claims.

Times are texts, UTC in ISO 8601, because SQLite has no time zones; points are exact fractions as texts.
"""

from typing import Final

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

METADATA: Final = MetaData()
_NOT_KEPT: Final = MetaData()
"""The tables whose rows last for minutes: no copy has them."""

attempts: Final = Table(
    "attempts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("assignment", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),  # of the other columns: the same attempt is not stored twice
    Column("path", Text, nullable=False),
    Column("students", Text, nullable=False),  # JSON
    Column("submitted_at", Text),
    Column("late", Boolean),
    Column("number", Integer, nullable=False),
    Column("team", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("also", Text, nullable=False),  # JSON
    Column("at", Text, nullable=False),
    Index("attempts_by_name", "assignment", "name"),
)

call_logs: Final = Table(
    "call_logs",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

scores: Final = Table(
    "scores",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("attempt_id", Integer, ForeignKey("attempts.id"), nullable=False, index=True),
    Column("identity", Text, unique=True),  # equal for gradings that must be equal; none where both are to be stored
    Column("conditions", Text),  # JSON; none for a score of an earlier viva
    Column("kind", Text, nullable=False),  # graded, regraded
    Column("version", Integer, nullable=False),
    Column("made_with", Text, nullable=False),  # digest of tests, key and data
    Column("signature", Text, nullable=False),  # JSON
    Column("tier", Text, nullable=False),
    Column("earned", Text, nullable=False),
    Column("points", Text, nullable=False),
    Column("still_open", Text, nullable=False),
    Column("wall_s", Float, nullable=False),
    Column("score", LargeBinary, nullable=False),  # the whole of it, packed
    Column("call_log_id", Integer, ForeignKey("call_logs.id")),
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
)

overrides: Final = Table(
    "overrides",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("assignment", Text, nullable=False),
    Column("name", Text, nullable=False),  # of the submission
    Column("test_id", Text, nullable=False),
    Column("earned", Text),  # none: the previous override is undone
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
    Index("overrides_by_name", "assignment", "name"),
)

proposals: Final = Table(
    "proposals",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("assignment", Text, nullable=False),
    Column("made_with", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
)

proposed: Final = Table(
    "proposed",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("proposal_id", Integer, ForeignKey("proposals.id"), nullable=False, index=True),
    Column("attempt_id", Integer, ForeignKey("attempts.id"), nullable=False),
    Column("old_score_id", Integer, ForeignKey("scores.id"), nullable=False),
    Column("score", LargeBinary, nullable=False),
    Column("conditions", Text),  # as in `scores`
    Column("call_log_id", Integer, ForeignKey("call_logs.id")),
)

decisions: Final = Table(
    "decisions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("proposed_id", Integer, ForeignKey("proposed.id"), nullable=False, unique=True),  # decided once
    Column("applied", Boolean, nullable=False),
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
)

reviews: Final = Table(
    "reviews",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("action", Text, nullable=False),  # groups rows made at once: one row, or one for each answer of a group
    Column("assignment", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("question", Text, nullable=False),  # its number in the rubric
    Column("kind", Text, nullable=False),  # mark, settled, appeal
    Column("round", Integer, nullable=False),
    Column("items", Text, nullable=False),  # JSON
    Column("adjust", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("earned", Text, nullable=False),
    Column("points", Text, nullable=False),
    Column("told", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("undoes", Text, nullable=False),  # an action; empty for none
    Index("reviews_by_place", "assignment", "content_hash", "question"),
    Index("reviews_in_order", "assignment", "id"),  # clients ask for new rows every few seconds
    Index("reviews_by_action", "action"),
    sqlite_autoincrement=True,  # the number of a deleted row is never used again: `since` relies on it
)

removals: Final = Table(
    "removals",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("pseudonym", Text, nullable=False),  # of the student, by HMAC: no name, no identifier
    Column("rows", Text, nullable=False),  # JSON: how many of each table
    Column("by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
)

claims: Final = Table(
    "claims",
    _NOT_KEPT,
    Column("identity", Text, primary_key=True),  # of a grading: see `Conditions.identity`
    Column("attempt_id", Integer, nullable=False, index=True),
    Column("holder", Text, nullable=False),  # host and process of a grader
    Column("until", Float, nullable=False),  # seconds since 1970
)
