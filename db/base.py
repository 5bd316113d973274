"""Common parts of all tables: their registry, and the type of stored times."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Dialect, MetaData, Text, TypeDecorator
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import DeclarativeBase


class UtcTime(TypeDecorator[datetime]):
    """A moment in time: stored from any time zone (never without one), returned in UTC, on SQLite too."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A time must carry its time zone. Got {value!r}; use datetime.now(UTC).")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    # Named constraints: migrations and error messages can refer to them on every database.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012
        str: Text,
        datetime: UtcTime,
        list[str]: JSON,
        list[int]: JSON,
        dict[str, object]: JSON,
    }


def columns_of(table: str, record: type) -> tuple[Column[Any], ...]:
    """Return the columns of a table in the order of a record's fields. record : a dataclass with the same names"""
    columns = Base.metadata.tables[table].c
    return tuple(columns[one.name] for one in fields(record))


# Telling database errors apart, on SQLite and on PostgreSQL.

_LACKS = ("42P01", "42703")  # undefined_table, undefined_column
_NO_SUCH = re.compile("no such (table|column)")


def is_damaged(error: DBAPIError) -> bool:
    """Whether SQLite found its file to be no database, or a damaged one."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_read_only(error: DBAPIError) -> bool:
    """Whether SQLite may not write its file, or next to it."""
    return _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def lacks_a_table(error: DBAPIError) -> bool:
    """Whether a table or a column is missing that every start creates."""
    return getattr(error.orig, "sqlstate", None) in _LACKS or bool(_NO_SUCH.match(str(error.orig)))


def is_gone(error: DBAPIError) -> bool:
    """Whether PostgreSQL does not answer, or has stopped answering."""
    plain = isinstance(error, OperationalError) and _code(error) is None
    sqlstate = getattr(error.orig, "sqlstate", None) or ""
    return error.connection_invalidated or (plain and (not sqlstate or sqlstate[:2] in ("57", "08", "3D")))


def is_held(error: DBAPIError) -> bool:
    """Whether another PostgreSQL transaction held a lock for too long (`db.postgres`)."""
    return getattr(error.orig, "sqlstate", None) == "55P03"


def is_cut_off(error: DBAPIError) -> bool:
    """Whether PostgreSQL ended the transaction because it was idle for too long, and could report that; if it could
    not, the connection `is_gone`."""
    return getattr(error.orig, "sqlstate", None) == "25P03"


def _code(error: DBAPIError) -> int | None:
    """SQLite's primary result code, the last byte of an extended one; None on PostgreSQL."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is None:
        return sqlite3.SQLITE_ERROR if isinstance(error.orig, sqlite3.Error) else None
    return int(code) & 0xFF
