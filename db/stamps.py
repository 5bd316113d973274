"""A value that changes with every commit, so that who waits for news need not read for it."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

from db.opened_file import DatabaseUnavailableError

if TYPE_CHECKING:
    from sqlalchemy import Engine, PoolProxiedConnection

_STAMP = {True: "PRAGMA data_version", False: "SELECT pg_current_wal_insert_lsn()"}


class Stamps:
    """Asks by a connection of its own, which stays open. reader : a database, for reading"""

    def __init__(self, reader: Engine) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._watcher: PoolProxiedConnection | None = None
        self._watchers = 0

    def stamp(self) -> tuple[int, str]:
        """See `db.engine.Database.stamp`."""
        with self._lock:
            if self._watcher is None:
                # Used raw, outside of any transaction, which would see the database as it was at its beginning.
                # `raw_connection` would raise the driver's own errors.
                self._watcher = self._reader.connect().connection
                self._watchers += 1  # what two connections say cannot be compared
            try:
                with closing(self._watcher.cursor()) as cursor:
                    cursor.execute(_STAMP[self._reader.dialect.name == "sqlite"])
                    found = cursor.fetchone()
            except Exception as error:
                # The server went away, perhaps. The next look has a new connection.
                self._watcher.invalidate()
                self._watcher = None
                raise DatabaseUnavailableError(f"The database does not answer now: {error}.") from error
            return self._watchers, str(found)

    def close(self) -> None:
        """Close the connection; the next stamp is of another one."""
        with self._lock:
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
