"""Encodings of rows by an encoder of the owner's own, made by a worker."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "encodings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcTime(), nullable=False),
        sa.Column("encoder", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_encodings"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_encodings_project_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_encodings_asked_by"),
    )
    op.create_index("ix_encodings_project_id", "encodings", ["project_id"])


def downgrade() -> None:
    op.drop_table("encodings")
