"""Comparisons of models; a worker can hold a lease of a project for each task, not one for all."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=True),
        sa.Column("asked_at", UtcTime(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("checks", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("fitting", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_comparisons"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_comparisons_project_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_comparisons_asked_by"),
    )
    op.create_index("ix_comparisons_project_id", "comparisons", ["project_id"])
    # The leases of trainings under way go with their table: no worker outlives the server that migrates. A fault that
    # was noted comes back with the next attempt.
    op.drop_table("trainings")
    _create_trainings(by_task=True)


def downgrade() -> None:
    op.drop_table("trainings")
    _create_trainings(by_task=False)
    op.drop_table("comparisons")


def _create_trainings(*, by_task: bool) -> None:
    task = [sa.Column("task", sa.Text(), nullable=False)] if by_task else []
    key = ["project_id", "task"] if by_task else ["project_id"]
    op.create_table(
        "trainings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        *task,
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("lease_until", UtcTime(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("ended", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("deaths", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint(*key, name="pk_trainings"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_trainings_project_id"),
    )
