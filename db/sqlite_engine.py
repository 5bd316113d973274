"""How SQLite is opened: its settings, and how transactions begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Engine, create_engine, event

from db.identity import begin_counting
from db.opened_file import OpenedFile

BUSY_SECONDS = 30
"""Seconds a writer waits for another process (SQLite) or another thread before it gives up."""
FORGET_PAGES = "PRAGMA shrink_memory"
PASSING = "winnow_passing"
"""Execution option of an engine, on either database: what is committed need not be on the disk at once."""
_SYNCED = {False: "PRAGMA synchronous=FULL", True: "PRAGMA synchronous=NORMAL"}


def path_in(database: str) -> Path:
    """The file of a URL's database, which may be a URI of SQLite's own."""
    return Path(unquote(urlsplit(database).path) if database.startswith("file:") else database).absolute()


def sqlite_engine(url: str, file: OpenedFile, *, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=20, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def _look(*_: Any) -> None:
        file.check()  # or a file that was deleted would be made anew, empty

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the listener below begins transactions, not the driver
        # recursive_triggers: without it INSERT OR REPLACE deletes a row past the append-only trigger.
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            f"busy_timeout={BUSY_SECONDS * 1000}",
            "foreign_keys=ON",
            "recursive_triggers=ON",
        ):
            connection.execute("PRAGMA " + pragma)
        if not writes:
            connection.execute("PRAGMA query_only=ON")
        try:
            file.opened()
        except BaseException:
            connection.close()
            raise

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if writes:
            # Or it would go by pages that were read before somebody overwrote the file.
            connection.exec_driver_sql(FORGET_PAGES)
            connection.exec_driver_sql(_SYNCED[PASSING in connection.get_execution_options()])
            begin_counting(connection)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
