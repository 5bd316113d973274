"""The first SQLite database at a place: whole on the disk before it has its name.

A start that is cut short, by a kill or a power cut, leaves no database; the next one begins again, and does not find an
empty one, which might be the rest of something that was lost.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

from db.engine import Database
from workflow.common.in_use import one_at_a_time
from workflow.common.whole_file import sync_folder

BEGUN = ".begun"
"""Ends the name of a database that is being made."""
BESIDE = ("-wal", "-shm", "-journal")
"""What the names of SQLite's files beside the database end with."""


def begin(path: Path) -> None:
    """Make a database with our tables at this path, where there is none. Of several starts at once one makes it.

    Raises sqlite3.Error, sqlalchemy.exc.DBAPIError, OSError; nothing is left then.
    """
    path = path.resolve()  # a link stays one
    with one_at_a_time(path.parent):
        if path.exists():
            return
        new = path.with_name(f".{path.name}{BEGUN}")
        _remove(new, *_beside(new))  # of a start that was cut short
        try:
            _make(new)
            if _remove(*_beside(path)):  # of a database that is gone: SQLite would bring it into this one
                sync_folder(path.parent)  # before there is one to bring it into
            new.replace(path)
            sync_folder(path.parent)
        except BaseException:
            _remove(new, *_beside(new))
            raise


def _make(new: Path) -> None:
    database = Database(URL.create("sqlite", database=str(new)).render_as_string())
    try:
        database.migrate()
    finally:
        database.close()
    with closing(sqlite3.connect(new)) as whole:
        whole.execute(
            "PRAGMA journal_mode=DELETE"
        ).fetchall()  # all of it is in the one file then, or this raises
    handle = os.open(new, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in BESIDE]


def _remove(*paths: Path) -> bool:
    """Whether any was there."""
    there = [path for path in paths if path.exists()]
    for path in there:
        path.unlink(missing_ok=True)
    return bool(there)
