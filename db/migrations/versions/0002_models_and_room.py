"""Published model versions; how the answering room is set; flags, what the model had said, a bin for projects."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entries", sa.Column("predicted", sa.Text(), nullable=True))
    op.add_column("entries", sa.Column("flagged", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_entries_row", "entries", ["project_id", "row", "seq"])
    op.add_column("questions", sa.Column("predicted", sa.Text(), nullable=True))
    op.add_column("projects", sa.Column("room", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("projects", sa.Column("deleted_at", UtcTime(), nullable=True))
    op.create_table(
        "models",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "key", "version", name="pk_models"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_models_project_id"),
    )
    op.create_table(
        "trainings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("lease_until", UtcTime(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", name="pk_trainings"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_trainings_project_id"),
    )
