"""What people set for themselves, pauses, examples of classes, and qualifications."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "goals",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=True),
        sa.Column("minutes", sa.Integer(), nullable=True),
        sa.Column("break_after", sa.Integer(), nullable=True),
        sa.Column("rested_at", UtcTime(), nullable=True),
        sa.Column("reached_on", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_goals"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_goals_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_goals_person_id"),
    )
    op.create_table(
        "examples",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("marked_by", sa.Integer(), nullable=False),
        sa.Column("marked_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "row", name="pk_examples"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_examples_project_id"),
        sa.ForeignKeyConstraint(["marked_by"], ["people.id"], name="fk_examples_marked_by"),
    )
    op.create_table(
        "qualifications",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("n_right", sa.Integer(), nullable=False),
        sa.Column("began_at", UtcTime(), nullable=False),
        sa.Column("passed_at", UtcTime(), nullable=True),
        sa.Column("let_in_by", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "person_id", "attempt", name="pk_qualifications"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_qualifications_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_qualifications_person_id"),
        sa.ForeignKeyConstraint(["let_in_by"], ["people.id"], name="fk_qualifications_let_in_by"),
    )
    op.add_column("questions", sa.Column("paused_at", UtcTime(), nullable=True))


def downgrade() -> None:
    op.drop_column("questions", "paused_at")
    op.drop_table("qualifications")
    op.drop_table("examples")
    op.drop_table("goals")
