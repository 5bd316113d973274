"""The home: settings, database, the folder of tables and the learners, opened once per process."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from db.engine import Database
from workflow.common import files
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

    def model_path(self, project_id: int, key: str, version: int) -> Path:
        """Where the scores of a model version are kept. key : of the settings it was trained with"""
        return self.settings.home / "models" / f"{project_id}-{key}" / f"{version}.npy"

    @property
    def address_file(self) -> Path:
        """Where a running server notes the address browsers reach it at."""
        return self.settings.home / "address"

    def close(self) -> None:
        self.shelf.close()
        self.database.close()


def open_home(settings: Settings) -> Home:
    """Make the folders where they are missing, for this user alone, and bring the database up to date.

    Raises SettingsError where WINNOW_HOME cannot be such a folder.
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
    database.migrate()
    return Home(settings, database, tables_dir)


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
