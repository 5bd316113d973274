"""A row or two in every table, with values that are hard to transfer from one database to another."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Integer, insert, text
from sqlalchemy.orm import Session

from db.base import Base, UtcTime

WORDS = "Ünïcødé 🐦 'quoted' \"twice\" \\ %s :name\nnext"
SAID: dict[str, Any] = {"b": [0.1, 1e-300, 12345678901234567890, None], "a": {"ü": "\u2028"}, "z": "\\u0041"}
AT = datetime(2026, 3, 1, 23, 59, 59, 123456, tzinfo=UTC)


def fill(session: Session) -> None:
    """Two rows in every table except `identity`; every other nullable value is NULL."""
    for one in Base.metadata.sorted_tables:
        if one.name != "identity":
            for number in (1, 2):
                session.execute(insert(one), {column.name: _value(column, number) for column in one.c})
            if one.c.get("id") is not None and session.get_bind().dialect.name != "sqlite":
                session.execute(text(f"SELECT setval(pg_get_serial_sequence('{one.name}', 'id'), 2)"))


def _value(column: Column[Any], number: int) -> object:
    if column.nullable and (number + len(column.name)) % 2:
        return None
    if column.name == "role":
        return "annotator"
    if column.primary_key or column.foreign_keys:
        return number if isinstance(column.type, Integer) else f"{WORDS}{number}"
    if isinstance(column.type, UtcTime):
        return AT
    if isinstance(column.type, JSON):
        return SAID
    if isinstance(column.type, Boolean):
        return number == 1
    if isinstance(column.type, Float):
        return 0.1 + 0.2
    return 2**31 - number if isinstance(column.type, Integer) else f"{WORDS}{number}"
