"""How a question was put, and what its screen showed first."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = ("entries", "questions")


def upgrade() -> None:
    for table in TABLES:  # not in a batch, which would make the log anew without its triggers
        op.add_column(table, sa.Column("asked", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "asked")
