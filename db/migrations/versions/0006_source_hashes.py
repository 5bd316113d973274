"""Projects know which file they were made from."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("projects", sa.Column("source_hash", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("projects", "source_hash")
