"""The home: settings, database, the folder of tables and the learners, opened once per process."""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from db.engine import Database, is_damaged
from workflow.common import files
from workflow.common.prepared import PreparedFiles
from workflow.people.attempts import Attempts
from workflow.settings import Settings, SettingsError
from workflow.shelf import Shelf

if TYPE_CHECKING:
    from plcore import LabelTable


@dataclass(frozen=True)
class Home:
    """Handed to every use case. Whoever opened it closes it."""

    settings: Settings
    database: Database
    tables_dir: Path
    shelf: Shelf = field(default_factory=Shelf)
    prepared: PreparedFiles = field(default_factory=PreparedFiles)
    attempts: Attempts = field(default_factory=Attempts)

    def table_path(self, table_hash: str) -> Path:
        """Where the table with this SHA-256 (64 hex digits) is kept."""
        return self.tables_dir / f"{table_hash}.parquet"

    def store_table(self, table: LabelTable) -> str:
        """Keep the table as an immutable file and return its SHA-256, the file's name. Twice is harmless."""
        files.keep(self.media_dir, table)  # a table never names an image that is not there
        return table.write_named(self.tables_dir)  # on disk, whole, before the project that names it

    @property
    def media_dir(self) -> Path:
        """Where the images and recordings of all tables are kept; made when the first is."""
        return self.settings.home / "media"

    @property
    def thumbnails_dir(self) -> Path:
        """Where small pictures are kept once they are made."""
        return self.settings.home / "thumbnails"

    def model_path(self, project_id: int, key: str, version: int) -> Path:
        """Where the scores of a model version are kept. key : of the settings it was trained with"""
        return self.settings.home / "models" / f"{project_id}-{key}" / f"{version}.npy"

    @property
    def cache_dir(self) -> Path:
        """Where lies what can be made again at any time; made when the first of it is."""
        return self.settings.home / "cache"

    @property
    def encoders_dir(self) -> Path:
        """Where whoever runs the server puts models of their own, a folder each; made by hand."""
        return self.settings.home / "encoders"

    @property
    def exports_dir(self) -> Path:
        """Where files lie that people are about to take away; made when the first is."""
        return self.settings.home / "exports"

    @property
    def address_file(self) -> Path:
        """Where a running server notes the address browsers reach it at."""
        return self.settings.home / "address"

    def close(self) -> None:
        self.prepared.close()
        self.shelf.close()
        self.database.close()


class BrokenHomeError(SettingsError):
    """The database and the tables in WINNOW_HOME do not belong together. Opened as they are, every project would be
    missing."""


MAKING = 1.0
"""Seconds that another process may need to make its database, which is empty at first."""


def open_home(settings: Settings) -> Home:
    """Make the folders where they are missing, for this user alone, and bring the database up to date.

    Raises
    ------
    SettingsError
        WINNOW_HOME cannot be such a folder.
    BrokenHomeError
        There are tables without their database, or the database is empty or damaged: no first start.
    """
    tables_dir = settings.home / "tables"
    try:
        for folder in (settings.home, tables_dir):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"WINNOW_HOME must be a folder this user may make and write. Got {str(settings.home)!r}: {error.strerror}."
        ) from error
    database = Database(settings.database_url)
    try:
        _check_whole(settings, database, tables_dir)
        database.migrate()
    except DBAPIError as error:
        database.close()
        if not is_damaged(error):
            raise
        raise BrokenHomeError(
            f"The database {_where(settings)} is damaged, or no database of Winnow's. {_fix(settings)}"
        ) from error
    except BrokenHomeError:
        database.close()
        raise
    return Home(settings, database, tables_dir)


def _check_whole(settings: Settings, database: Database, tables_dir: Path) -> None:
    """Raise BrokenHomeError where a copy that failed, or half a backup put back, would be taken for a first start."""
    given_up = time.monotonic() + MAKING
    while database.is_emptied():
        if time.monotonic() >= given_up:
            raise BrokenHomeError(f"The database {_where(settings)} is empty (0 bytes). {_fix(settings)}")
        time.sleep(MAKING / 20)
    tables = sum(1 for _ in tables_dir.glob("*.parquet"))
    if tables and database.is_new():
        raise BrokenHomeError(
            f"There is no database at {_where(settings)}, but {tables_dir} holds {tables} "
            f"table{'' if tables == 1 else 's'} of projects. {_fix(settings)}"
        )


def _where(settings: Settings) -> str:
    """The database in words for the person at the terminal, without a password."""
    url = make_url(settings.database_url)
    return (
        str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
    )


def _fix(settings: Settings) -> str:
    return f"Fix: put the database back from a backup; or, to start anew without projects, move {settings.home} away."


_opening = threading.Lock()


@functools.cache
def _process_home() -> Home:
    return open_home(Settings.from_environment())


def home() -> Home:
    """The home of this process, opened at the first call from the environment's settings."""
    with _opening:  # functools.cache alone would let two first callers open it twice
        return _process_home()


def close_home() -> None:
    """Close the process's home if it is open; the next `home()` opens it anew."""
    with _opening:
        if _process_home.cache_info().currsize:
            _process_home().close()
            _process_home.cache_clear()
