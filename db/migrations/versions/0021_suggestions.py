"""Shortlists by language models."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "suggestions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcTime(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_suggestions_asked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_suggestions_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_suggestions"),
    )
    op.create_index("ix_suggestions_project_id", "suggestions", ["project_id"])
