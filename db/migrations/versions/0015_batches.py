"""Rows that are before a person together, to be confirmed with one press."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("shown_at", UtcTime(), nullable=False),
        sa.Column("reserved_until", UtcTime(), nullable=False),
        sa.Column("taken_out", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_batches"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_batches_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_batches_person_id"),
    )


def downgrade() -> None:
    op.drop_table("batches")
