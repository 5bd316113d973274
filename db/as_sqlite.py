"""A PostgreSQL database as an SQLite file of the same tables, and such a file put into PostgreSQL.

So a backup has one form, whatever it was made of, and can be looked into and put back on either. Values go over as they
are: moments to the microsecond, JSON letter for letter. The tables may be of any version that this Winnow knows: what
they are is read from the file, which the migrations have made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    URL,
    ColumnElement,
    Connection,
    DateTime,
    MetaData,
    Table,
    TableClause,
    Text,
    TypeDecorator,
    cast,
    column,
    create_engine,
    func,
    insert,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.types import TypeEngine

from db.base import Base, UtcTime
from db.opened_file import DatabaseBusyError
from db.postgres_engine import alone_with_tables
from db.revisions import upgrade

LEAVING = 10.0
"""Seconds in which connections end of a Winnow that was just stopped."""
_PIECE = 2000  # rows at once in memory
_VERSION = "alembic_version"
_REVISION = text("SELECT version_num FROM alembic_version")
_TEXT: TypeEngine[str] = Text()  # what JSON is in SQLite
_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user "
    "AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
)
_FUNCTIONS = ("entries_are_append_only", "events_are_append_only")  # of the triggers


class _JsonText(TypeDecorator[str]):
    """JSON in PostgreSQL as the text that it is there: a number is not read and written anew."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindvalue: Any) -> ColumnElement[Any]:
        return cast(bindvalue, JSON)

    def column_expression(self, column: Any) -> ColumnElement[Any]:
        return cast(column, Text)


def write_sqlite(source: Connection, path: Path) -> None:
    """Write all of a PostgreSQL database to a new SQLite file, which is whole once this has come back.

    source : in a transaction that sees the database at one moment
    Raises RuntimeError where a table has other rows in the file than in the database; SQLAlchemyError.
    """
    with _file(path) as target:
        for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # nobody reads it before it is whole
            target.exec_driver_sql(f"PRAGMA {pragma}")
        upgrade(target, source.execute(_REVISION).scalar_one())
        for one in _tables(target):
            _carry(source, _of(one, _JsonText()), target, _of(one, _TEXT), one)
        if inspect(source).has_table("identity"):
            mine = str(source.execute(text("SELECT id FROM identity")).scalar_one())
            height = int(source.execute(text("SELECT last_value FROM identity_height")).scalar_one())
            target.exec_driver_sql(f"PRAGMA application_id = {int(mine[:8], 16) & 0x7FFFFFFF}")
            target.exec_driver_sql(f"PRAGMA user_version = {height}")
        target.commit()


def read_sqlite(path: Path, target: Connection) -> None:
    """Put what is in an SQLite file in the place of all that is Winnow's in PostgreSQL; the caller commits.

    target : in a transaction; at its end everything is there at once
    Raises DatabaseBusyError where others are connected to the database, RuntimeError and SQLAlchemyError.
    """
    alone_with_tables(target)
    _wait_for_others(target)
    _drop(target)
    with _file(path) as source:
        upgrade(target, source.execute(_REVISION).scalar_one())
        ours = set(inspect(target).get_table_names())  # the file may have tables of others beside Winnow's
        for one in _tables(source, ours):
            _carry(source, _of(one, _TEXT), target, _of(one, _JsonText()), one)
            _number_on(target, one)
        if inspect(target).has_table("identity"):
            height = int(source.exec_driver_sql("PRAGMA user_version").scalar_one())
            target.execute(text("SELECT setval('identity_height', :height)"), {"height": max(1, height)})


@contextmanager
def _file(path: Path) -> Iterator[Connection]:
    engine = create_engine(URL.create("sqlite", database=str(path)))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _tables(file: Connection, ours: set[str] | None = None) -> list[Table]:
    """Those of an SQLite file, each after those that it refers to. ours : no others"""
    found = MetaData()
    found.reflect(file, only=lambda name, _: ours is None or name in ours)
    return [one for one in found.sorted_tables if one.name != _VERSION]


def _of(one: Table, json: TypeEngine[str]) -> TableClause:
    """The table with the types that its values have in one of the databases."""

    def kind(found: TypeEngine[Any]) -> TypeEngine[Any]:
        if isinstance(found, JSON):
            return json
        return UtcTime() if isinstance(found, DateTime) else found.as_generic()

    return table(one.name, *(column(name, kind(found.type)) for name, found in one.c.items()))


def _carry(source: Connection, there: TableClause, target: Connection, here: TableClause, one: Table) -> None:
    """All rows of a table, in the order of their keys."""
    wanted = select(*there.c).order_by(*(there.c[key.name] for key in one.primary_key))
    if one.name == "identity":
        target.execute(here.delete())  # a new one, which its migration has made
    carried = 0
    with source.execute(wanted, execution_options={"yield_per": _PIECE}) as rows:
        for piece in rows.mappings().partitions():
            target.execute(insert(here), [dict(row) for row in piece])
            carried += len(piece)
    found = [
        at.execute(select(func.count()).select_from(which)).scalar_one()
        for at, which in ((source, there), (target, here))
    ]
    if found != [carried, carried]:
        raise RuntimeError(f"the table {one.name} has {found[0]:,} rows, and its copy {found[1]:,}")


def _number_on(target: Connection, one: Table) -> None:
    """New rows are numbered from the largest number on."""
    if "id" not in one.c or one.c["id"].type.python_type is not int:
        return
    target.execute(
        text(
            f"SELECT setval(pg_get_serial_sequence('{one.name}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) "  # noqa: S608 - names of ours
            f"FROM {one.name}"
        )
    )


def _wait_for_others(target: Connection) -> None:
    given_up = time.monotonic() + LEAVING
    while others := target.execute(_OTHERS).scalar_one():
        if time.monotonic() >= given_up:
            raise DatabaseBusyError(
                f"The database is in use: {others} other connection{'' if others == 1 else 's'} of Winnow's. "
                "Nothing was changed. Fix: stop every server, worker and command of Winnow that uses it."
            )
        time.sleep(LEAVING / 100)


def _drop(target: Connection) -> None:
    """Remove what migrations make, of whichever version."""
    names = ", ".join(f'"{name}"' for name in (*Base.metadata.tables, _VERSION))
    target.execute(text(f"DROP TABLE IF EXISTS {names}"))
    target.execute(text("DROP SEQUENCE IF EXISTS identity_height"))
    for name in _FUNCTIONS:
        target.execute(text(f"DROP FUNCTION IF EXISTS {name}()"))
