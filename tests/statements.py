"""SQL statements of the tests: which are made, and how often they are compiled.

They are compiled once in each process of the tests, and not again for each of thousands of databases. SQLAlchemy caches
compiled statements with the engine, for its dialect. Engines of one kind of database agree in everything that a
statement depends on, so here they share the cache that a server, with its single database, keeps in one engine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def noted_statements(thread: str = "MainThread") -> Iterator[list[str]]:
    """Yield a list that every SQL statement of a thread of this name is added to meanwhile: others train models."""
    noted: list[str] = []

    def note(*arguments: object) -> None:
        if threading.current_thread().name == thread:
            noted.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(Engine, "before_cursor_execute", note)
