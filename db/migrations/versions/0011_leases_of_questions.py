"""Until when a question keeps its row: as long as its person is likely to need."""

import sqlalchemy as sa
from alembic import op

from db.base import UtcTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A question is open for minutes: those of before are asked anew.
    op.execute(sa.text("DELETE FROM questions"))
    with op.batch_alter_table("questions") as table:
        table.add_column(sa.Column("reserved_until", UtcTime(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("questions") as table:
        table.drop_column("reserved_until")
