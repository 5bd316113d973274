"""How people sign in beside links, what is known of their browsers, and the audit's append-only events."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WORDS = ("how", "address", "browser")


def upgrade() -> None:
    op.add_column("sign_ins", sa.Column("last_seen_at", UtcTime(), nullable=True))
    for name in WORDS:
        op.add_column("sign_ins", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "accounts",
        sa.Column("person_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("known_as", sa.Text(), nullable=True),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("person_id", name="pk_accounts"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_accounts_person_id"),
        sa.UniqueConstraint("known_as", name="uq_accounts_known_as"),
        sa.UniqueConstraint("subject", name="uq_accounts_subject"),
    )
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
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name="fk_events_person_id"),
        sa.ForeignKeyConstraint(["about_id"], ["people.id"], name="fk_events_about_id"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_events_project_id"),
    )
    if op.get_bind().dialect.name == "sqlite":
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER events_no_{action.lower()} BEFORE {action} ON events "
                "BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION events_are_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only()"
    )


def downgrade() -> None:
    op.drop_table("events")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION events_are_append_only()")
    op.drop_table("accounts")
    for name in ("last_seen_at", *WORDS):
        op.drop_column("sign_ins", name)
