"""The settings that projects had before they were changed."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "past_settings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("until_seq", sa.Integer(), nullable=False),
        sa.Column("until", UtcTime(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "number", name="pk_past_settings"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_past_settings_project_id"),
    )


def downgrade() -> None:
    op.drop_table("past_settings")
