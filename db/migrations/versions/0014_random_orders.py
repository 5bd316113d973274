"""What random order would have reached, estimated by a worker."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "random_orders",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=True),
        sa.Column("asked_at", UtcTime(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_random_orders"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_random_orders_project_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_random_orders_asked_by"),
    )
    op.create_index("ix_random_orders_project_id", "random_orders", ["project_id"])


def downgrade() -> None:
    op.drop_index("ix_random_orders_project_id", table_name="random_orders")
    op.drop_table("random_orders")
