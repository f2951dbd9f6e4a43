"""Decisions of markers about written answers, each action in rows of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("assignment", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("items", sa.Text, nullable=False),
        sa.Column("adjust", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("earned", sa.Text, nullable=False),
        sa.Column("points", sa.Text, nullable=False),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("undoes", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("reviews_by_place", "reviews", ["assignment", "content_hash", "question"])
    op.create_index("reviews_in_order", "reviews", ["assignment", "id"])
    op.create_index("reviews_by_action", "reviews", ["action"])
