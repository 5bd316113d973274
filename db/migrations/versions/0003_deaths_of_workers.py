"""What a worker trains while it holds its lease, and how many have died of it in a row."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("trainings", sa.Column("key", sa.Text(), nullable=False, server_default=""))
    op.add_column("trainings", sa.Column("ended", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("trainings", sa.Column("deaths", sa.Integer(), nullable=False, server_default="0"))
