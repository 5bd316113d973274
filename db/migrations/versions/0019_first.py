"""The tables of 0.2.0, and the triggers that make the log of answers and the log of events append-only."""

import secrets

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0019"  # of the nineteen steps up to 0.2.0, which this one replaces
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "groups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_groups"),
        sa.UniqueConstraint("name", name="uq_groups_name"),
    )
    op.create_table(
        "identity", sa.Column("id", sa.Text(), nullable=False), sa.PrimaryKeyConstraint("id", name="pk_identity")
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("disabled_at", UtcTime(), nullable=True),
        sa.CheckConstraint("role IN ('owner', 'annotator')", name=op.f("ck_people_role")),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("name", name="uq_people_name"),
    )
    op.create_table(
        "accounts",
        sa.Column("person_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("known_as", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_accounts_person_id"),
        sa.PrimaryKeyConstraint("person_id", name="pk_accounts"),
        sa.UniqueConstraint("known_as", name="uq_accounts_known_as"),
        sa.UniqueConstraint("subject", name="uq_accounts_subject"),
    )
    op.create_table(
        "group_members",
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="fk_group_members_group_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_group_members_person_id"),
        sa.PrimaryKeyConstraint("group_id", "person_id", name="pk_group_members"),
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
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_links_created_by"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_links_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_links"),
        sa.UniqueConstraint("secret_hash", name="uq_links_secret_hash"),
    )
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
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.Column("room", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("stop_rules", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("source_hash", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name="fk_projects_created_by"),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
    )
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.Column("last_seen_at", UtcTime(), nullable=True),
        sa.Column("how", sa.Text(), server_default="", nullable=False),
        sa.Column("address", sa.Text(), server_default="", nullable=False),
        sa.Column("browser", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_sign_ins_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        sa.UniqueConstraint("secret_hash", name="uq_sign_ins_secret_hash"),
    )
    op.create_index("ix_sign_ins_person_id", "sign_ins", ["person_id"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.Column("last_used_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_tokens_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("secret_hash", name="uq_tokens_secret_hash"),
    )
    op.create_index("ix_tokens_person_id", "tokens", ["person_id"])
    op.create_table(
        "batches",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("shown_at", UtcTime(), nullable=False),
        sa.Column("reserved_until", UtcTime(), nullable=False),
        sa.Column("taken_out", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_batches_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_batches_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_batches"),
    )
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
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_comparisons_asked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_comparisons_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_comparisons"),
    )
    op.create_index("ix_comparisons_project_id", "comparisons", ["project_id"])
    op.create_table(
        "dispute_notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_dispute_notes_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_dispute_notes_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dispute_notes"),
    )
    op.create_index("ix_dispute_notes_row", "dispute_notes", ["project_id", "row", "id"])
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
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_encodings_asked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_encodings_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_encodings"),
    )
    op.create_index("ix_encodings_project_id", "encodings", ["project_id"])
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
        sa.Column("predicted", sa.Text(), nullable=True),
        sa.Column("flagged", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("asked", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_entries_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_entries_project_id"),
        sa.PrimaryKeyConstraint("project_id", "seq", name="pk_entries"),
        sa.UniqueConstraint("project_id", "person_id", "row", "label", "revision", name="uq_entries_revision"),
        sa.UniqueConstraint("project_id", "token", name="uq_entries_token"),
    )
    op.create_index("ix_entries_row", "entries", ["project_id", "row", "seq"])
    op.create_index("ix_entries_target", "entries", ["project_id", "target_seq"])
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("about_id", sa.Integer(), nullable=True),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["about_id"], ["people.id"], name="fk_events_about_id"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_events_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_events_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_table(
        "examples",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("marked_by", sa.Integer(), nullable=False),
        sa.Column("marked_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["marked_by"], ["people.id"], name="fk_examples_marked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_examples_project_id"),
        sa.PrimaryKeyConstraint("project_id", "row", name="pk_examples"),
    )
    op.create_table(
        "goals",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=True),
        sa.Column("minutes", sa.Integer(), nullable=True),
        sa.Column("break_after", sa.Integer(), nullable=True),
        sa.Column("rested_at", UtcTime(), nullable=True),
        sa.Column("reached_on", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_goals_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_goals_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_goals"),
    )
    op.create_table(
        "members",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("added_at", UtcTime(), nullable=False),
        sa.Column("added_by", sa.Integer(), nullable=True),
        sa.CheckConstraint("role IN ('owner', 'reviewer', 'annotator', 'viewer')", name=op.f("ck_members_role")),
        sa.ForeignKeyConstraint(["added_by"], ["people.id"], name="fk_members_added_by"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_members_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_members_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_members"),
    )
    op.create_index("ix_members_person", "members", ["person_id", "project_id"])
    op.create_table(
        "models",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_models_project_id"),
        sa.PrimaryKeyConstraint("project_id", "key", "version", name="pk_models"),
    )
    op.create_table(
        "past_settings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("until_seq", sa.Integer(), nullable=False),
        sa.Column("until", UtcTime(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_past_settings_project_id"),
        sa.PrimaryKeyConstraint("project_id", "number", name="pk_past_settings"),
    )
    op.create_table(
        "qualifications",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("n_right", sa.Integer(), nullable=False),
        sa.Column("began_at", UtcTime(), nullable=False),
        sa.Column("passed_at", UtcTime(), nullable=True),
        sa.Column("let_in_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["let_in_by"], ["people.id"], name="fk_qualifications_let_in_by"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_qualifications_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_qualifications_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", "attempt", name="pk_qualifications"),
    )
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
        sa.Column("predicted", sa.Text(), nullable=True),
        sa.Column("shown_at", UtcTime(), nullable=False),
        sa.Column("reserved_at", UtcTime(), nullable=False),
        sa.Column("reserved_until", UtcTime(), nullable=False),
        sa.Column("paused_at", UtcTime(), nullable=True),
        sa.Column("asked", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_questions_person_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_questions_project_id"),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_questions"),
    )
    op.create_table(
        "random_orders",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=True),
        sa.Column("asked_at", UtcTime(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["asked_by"], ["people.id"], name="fk_random_orders_asked_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_random_orders_project_id"),
        sa.PrimaryKeyConstraint("id", name="pk_random_orders"),
    )
    op.create_index("ix_random_orders_project_id", "random_orders", ["project_id"])
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
        sa.ForeignKeyConstraint(["made_by"], ["people.id"], name="fk_snapshots_made_by"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_snapshots_project_id"),
        sa.PrimaryKeyConstraint("project_id", "name", name="pk_snapshots"),
    )
    op.create_table(
        "trainings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("lease_until", UtcTime(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), server_default="", nullable=False),
        sa.Column("ended", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("deaths", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_trainings_project_id"),
        sa.PrimaryKeyConstraint("project_id", "task", name="pk_trainings"),
    )
    for table in ("entries", "events"):
        _make_append_only(table)
    _name_this_database()


def _make_append_only(table: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}_are_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} are append-only'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_are_append_only()"
    )


def _name_this_database() -> None:
    """A random id, and on PostgreSQL a counter of commits (SQLite has its own)."""
    mine = secrets.token_hex(16)
    op.execute(sa.text("INSERT INTO identity (id) VALUES (:mine)").bindparams(mine=mine))
    if op.get_bind().dialect.name == "sqlite":
        # In the file's header too, if it can be read without opening the database: 31 bits of it.
        op.execute(sa.text(f"PRAGMA application_id = {int(mine[:8], 16) & 0x7FFFFFFF}"))
    else:
        op.execute(sa.text("CREATE SEQUENCE identity_height"))
