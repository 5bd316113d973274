"""Statements compiled once in each process of the tests, and not again for each of thousands of databases.

SQLAlchemy caches compiled statements with the engine, for its dialect. Engines of one kind of database agree in
everything that a statement depends on, so here they share the cache that a server, with its single database, keeps in
one engine.
"""

from __future__ import annotations

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_COMPILED: LRUCache[object, object] = LRUCache(2000)


def _same_kind(one: object, other: object) -> bool:
    return type(one) is type(other)


def _hash_of_kind(one: object) -> int:
    return hash(type(one))


def share_statements() -> None:
    """Share compiled statements from now on, in this process."""
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.__eq__ = _same_kind  # type: ignore[method-assign]
        dialect.__hash__ = _hash_of_kind  # type: ignore[method-assign, assignment]
    event.listen(Engine, "engine_connect", _share)


def _share(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_COMPILED)
