"""Until when a question keeps its row: as long as its person is likely to need."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("questions") as table:
        table.add_column(sa.Column("reserved_until", UtcTime(), nullable=True))
    # Whoever has one on the screen while the server is brought up to date can answer it afterwards.
    soon = sa.bindparam("soon", datetime.now(UTC) + timedelta(minutes=2), type_=UtcTime())
    op.execute(sa.text("UPDATE questions SET reserved_until = :soon").bindparams(soon))
    with op.batch_alter_table("questions") as table:
        table.alter_column("reserved_until", existing_type=UtcTime(), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("questions") as table:
        table.drop_column("reserved_until")
