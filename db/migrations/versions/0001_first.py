"""The first tables, and the triggers that make the log append-only."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("disabled_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("name", name="uq_people_name"),
        sa.CheckConstraint("role IN ('owner', 'annotator')", name=op.f("ck_people_role")),
    )
    op.create_table(
        "links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("used_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_links"),
        sa.UniqueConstraint("secret_hash", name="uq_links_secret_hash"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_links_person_id"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_links_created_by"),
    )
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        sa.UniqueConstraint("secret_hash", name="uq_sign_ins_secret_hash"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sign_ins_person_id"),
    )
    op.create_index("ix_sign_ins_person_id", "sign_ins", ["person_id"])
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("table_hash", sa.Text(), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("n_classes", sa.Integer(), nullable=False),
        sa.Column("n_to_ask", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("archived_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_projects_created_by"),
    )
    op.create_table(
        "entries",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("target_seq", sa.Integer(), nullable=True),
        sa.Column("strategy", sa.Text(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "seq", name="pk_entries"),
        sa.UniqueConstraint("project_id", "token", name="uq_entries_token"),
        sa.UniqueConstraint(
            "project_id", "person_id", "row", "label", "revision", name="uq_entries_revision"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_entries_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_entries_person_id"),
    )
    op.create_index("ix_entries_target", "entries", ["project_id", "target_seq"])
    op.create_table(
        "questions",
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
        sa.Column("shown_at", UtcTime(), nullable=False),
        sa.Column("reserved_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_questions"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_questions_project_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_questions_person_id"),
    )
    _make_append_only()


def _make_append_only() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER entries_no_{action.lower()} BEFORE {action} ON entries "
                "BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION entries_are_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER entries_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION entries_are_append_only()"
    )
