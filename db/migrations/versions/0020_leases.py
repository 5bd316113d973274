"""Questions that programs of one person have before them at once."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("decides", sa.Integer(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column("predicted", sa.Text(), nullable=True),
        sa.Column("shown_at", UtcTime(), nullable=False),
        sa.Column("reserved_at", UtcTime(), nullable=False),
        sa.Column("reserved_until", UtcTime(), nullable=False),
        sa.Column("paused_at", UtcTime(), nullable=True),
        sa.Column("asked", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_leases_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_leases_project_id"),
        sa.PrimaryKeyConstraint("project_id", "token", name="pk_leases"),
    )
