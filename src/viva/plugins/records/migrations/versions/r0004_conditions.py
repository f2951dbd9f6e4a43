"""Under which conditions each score was made; what has none is graded again."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns."""
    for table in ("scores", "proposed"):
        op.add_column(table, sa.Column("conditions", sa.Text))
