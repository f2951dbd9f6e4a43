"""Which grader grades what at the moment."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "claims",
        sa.Column("identity", sa.Text, primary_key=True),
        sa.Column("attempt_id", sa.Integer, nullable=False, index=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until", sa.Float, nullable=False),
    )
