"""The stop rules have a column of their own; they lay among the settings of the answering room."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_KEY = "stop"
_PROJECTS = sa.table(
    "projects",
    sa.column("id", sa.Integer),
    sa.column("room", sa.JSON),
    sa.column("stop_rules", sa.JSON(none_as_null=True)),
)


def upgrade() -> None:
    op.add_column("projects", sa.Column("stop_rules", sa.JSON(), nullable=True))
    for number, room, _ in _stored():
        if _KEY in room:
            _store(number, {key: value for key, value in room.items() if key != _KEY}, room[_KEY])


def downgrade() -> None:
    for number, room, rules in _stored():
        if rules is not None:
            _store(number, {**room, _KEY: rules}, None)
    op.drop_column("projects", "stop_rules")


def _stored() -> list[tuple[int, dict[str, Any], dict[str, Any] | None]]:
    """(id, room, stop_rules) of every project."""
    return [tuple(row) for row in op.get_bind().execute(sa.select(_PROJECTS)).all()]


def _store(number: int, room: dict[str, Any], rules: dict[str, Any] | None) -> None:
    change = sa.update(_PROJECTS).where(_PROJECTS.c.id == number).values(room=room, stop_rules=rules)
    op.get_bind().execute(change)
