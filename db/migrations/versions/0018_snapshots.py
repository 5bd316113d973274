"""Named snapshots: which state of a project a name means, and its hashes."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("log_sha256", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", name="pk_snapshots"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_snapshots_project_id"),
        sa.ForeignKeyConstraint(["made_by"], ["people.id"], name="fk_snapshots_made_by"),
    )


def downgrade() -> None:
    op.drop_table("snapshots")
