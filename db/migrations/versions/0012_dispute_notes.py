"""Notes beside rows that people disagree on."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "dispute_notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dispute_notes"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_dispute_notes_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_dispute_notes_person_id"),
    )
    op.create_index("ix_dispute_notes_row", "dispute_notes", ["project_id", "row", "id"])


def downgrade() -> None:
    op.drop_index("ix_dispute_notes_row", table_name="dispute_notes")
    op.drop_table("dispute_notes")
