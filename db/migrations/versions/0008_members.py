"""Roles by project, and groups of people. Who could see every project until now goes on seeing those there are."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "members",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("added_at", UtcTime(), nullable=False),
        sa.Column("added_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "role IN ('owner', 'reviewer', 'annotator', 'viewer')", name=op.f("ck_members_role")
        ),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_members"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_members_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_members_person_id"),
        sa.ForeignKeyConstraint(["added_by"], ["people.id"], name="fk_members_added_by"),
    )
    op.create_index("ix_members_person", "members", ["person_id", "project_id"])
    op.create_table(
        "groups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_groups"),
        sa.UniqueConstraint("name", name="uq_groups_name"),
    )
    op.create_table(
        "group_members",
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("group_id", "person_id", name="pk_group_members"),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="fk_group_members_group_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_group_members_person_id"),
    )
    everybody_everywhere = sa.text(
        "INSERT INTO members (project_id, person_id, role, added_at) "
        "SELECT projects.id, people.id, 'annotator', :now FROM projects CROSS JOIN people "
        "WHERE people.role = 'annotator'"
    ).bindparams(sa.bindparam("now", datetime.now(UTC), type_=UtcTime()))
    op.execute(everybody_everywhere)


def downgrade() -> None:
    op.drop_table("group_members")
    op.drop_table("groups")
    op.drop_table("members")
