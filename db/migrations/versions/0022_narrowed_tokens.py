"""Tokens that may do less than their person; those that are there keep all rights."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tokens", sa.Column("may", sa.Text(), server_default="own", nullable=False))
    op.add_column("tokens", sa.Column("projects", sa.JSON(none_as_null=True), nullable=True))
