"""Which database this is: a random id, and on PostgreSQL a counter of commits (SQLite has its own)."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    table = op.create_table(
        "identity",
        sa.Column("id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_identity"),
    )
    mine = secrets.token_hex(16)
    op.bulk_insert(table, [{"id": mine}])
    if op.get_bind().dialect.name == "sqlite":
        # In the file's header too, where it can be read without opening the database: 31 bits of it.
        op.execute(sa.text(f"PRAGMA application_id = {int(mine[:8], 16) & 0x7FFFFFFF}"))
    else:
        op.execute(sa.text("CREATE SEQUENCE identity_height"))


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.execute(sa.text("DROP SEQUENCE identity_height"))
    op.drop_table("identity")
