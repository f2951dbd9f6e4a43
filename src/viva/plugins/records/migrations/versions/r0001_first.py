"""The first revision: attempts, scores, call logs, overrides, proposals and decisions about them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("students", sa.Text, nullable=False),
        sa.Column("submitted_at", sa.Text),
        sa.Column("late", sa.Boolean),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("also", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("attempts_by_name", "attempts", ["assignment", "name"])
    op.create_table(
        "call_logs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), nullable=False),
        sa.Column("identity", sa.Text, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("made_with", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("earned", sa.Text, nullable=False),
        sa.Column("points", sa.Text, nullable=False),
        sa.Column("still_open", sa.Text, nullable=False),
        sa.Column("wall_s", sa.Float, nullable=False),
        sa.Column("score", sa.LargeBinary, nullable=False),
        sa.Column("call_log_id", sa.Integer, sa.ForeignKey("call_logs.id")),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("ix_scores_attempt_id", "scores", ["attempt_id"])
    op.create_table(
        "overrides",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("test_id", sa.Text, nullable=False),
        sa.Column("earned", sa.Text),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("overrides_by_name", "overrides", ["assignment", "name"])
    op.create_table(
        "proposals",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.Text, nullable=False),
        sa.Column("made_with", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_table(
        "proposed",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("proposal_id", sa.Integer, sa.ForeignKey("proposals.id"), nullable=False),
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), nullable=False),
        sa.Column("old_score_id", sa.Integer, sa.ForeignKey("scores.id"), nullable=False),
        sa.Column("score", sa.LargeBinary, nullable=False),
        sa.Column("call_log_id", sa.Integer, sa.ForeignKey("call_logs.id")),
    )
    op.create_index("ix_proposed_proposal_id", "proposed", ["proposal_id"])
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("proposed_id", sa.Integer, sa.ForeignKey("proposed.id"), nullable=False, unique=True),
        sa.Column("applied", sa.Boolean, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
