"""The home: settings, database, the folder of tables and the learners, opened once per process."""

from __future__ import annotations

import functools
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from db.engine import DatabaseUnavailableError
from plcore.common import no_room
from workflow.common import files, in_use, left_behind
from workflow.common.arriving import Arrivals
from workflow.common.kept_jobs import KeptJobs
from workflow.common.machine import machine_memory
from workflow.common.prepared import PreparedFiles
from workflow.common.private import keep_private
from workflow.common.store import files_of, open_database
from workflow.common.whole_file import make_folder
from workflow.people.attempts import Attempts
from workflow.people.known_browsers import KnownBrowsers
from workflow.settings import Settings, SettingsError
from workflow.shelf import Shelf

if TYPE_CHECKING:
    from db.engine import Database
    from plcore import LabelTable


class LostTableError(DatabaseUnavailableError):
    """The file of an uploaded table is missing or damaged; the message is for everybody to read."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The project's table (tables/{name} in the data folder) is missing or damaged. No answer is lost: they "
            "are in the database. Fix: put the file back from a backup (winnow restore FILE --to FOLDER, then copy "
            "it); winnow doctor says which are missing."
        )


class NoRoomError(DatabaseUnavailableError):
    """There is no room to lay out a table that is opened, or what is made of its rows; the message is for everybody to
    read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "There is no room left on the disk for the project: its table, or what is made of its rows, lies in "
            f"{folder}. No answer is lost. Fix: make room there, and come back."
        )


@contextmanager
def room_for_learner() -> Iterator[None]:
    """Raises NoRoomError where what is made of many rows, which lies in files, finds no room on the disk."""
    try:
        yield
    except OSError as error:
        if not no_room(error):
            raise
        raise NoRoomError(Path(error.filename or tempfile.gettempdir())) from error


@dataclass(frozen=True)
class Home:
    """Handed to every use case. Whoever opened it closes it."""

    settings: Settings
    database: Database
    tables_dir: Path
    shared: IO[bytes]  # the lock of `workflow.common.in_use`
    shelf: Shelf = field(default_factory=Shelf)
    prepared: PreparedFiles = field(default_factory=PreparedFiles)
    arrivals: Arrivals = field(default_factory=Arrivals)
    jobs: KeptJobs = field(default_factory=KeptJobs)
    attempts: Attempts = field(default_factory=Attempts)
    known_browsers: KnownBrowsers = field(default_factory=KnownBrowsers)

    def table_path(self, table_hash: str) -> Path:
        """Where the table with this SHA-256 (64 hex digits) is kept."""
        return self.tables_dir / f"{table_hash}.parquet"

    def read_table(self, table_hash: str) -> LabelTable:
        """The table with this SHA-256. Raises LostTableError, NoRoomError."""
        from plcore import LabelTable

        try:
            return LabelTable.read(self.table_path(table_hash))
        except (OSError, ValueError) as error:
            if no_room(error):
                raise NoRoomError(self.tables_dir) from error
            raise LostTableError(self.table_path(table_hash).name) from error

    def table_size(self, table_hash: str) -> int:
        """Bytes of the table's file. Raises LostTableError."""
        try:
            return self.table_path(table_hash).stat().st_size
        except OSError as error:
            raise LostTableError(self.table_path(table_hash).name) from error

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
    def backups_dir(self) -> Path:
        """Where backups lie that nobody named another place for; made when the first is."""
        return self.settings.backups_dir

    @property
    def servers_dir(self) -> Path:
        """Where running servers note the address browsers reach them at (`workflow.common.running`)."""
        return self.settings.home / "servers"

    @property
    def uploads_dir(self) -> Path:
        """Where files lie that people have sent, until they were read; made when the first comes."""
        return self.settings.home / "uploads"

    def close(self) -> None:
        self.jobs.close()  # before what they work with goes
        self.prepared.close()
        self.arrivals.close()
        self.shelf.close()
        self.database.close()
        self.shared.close()


def open_home(settings: Settings, *, accept: bool = False) -> Home:
    """Make the folders where they are missing, for this user alone, and bring the database up to date.

    accept : whatever database is there is taken (`workflow.common.store.open_database`)

    Raises
    ------
    SettingsError
        WINNOW_HOME cannot be such a folder, or a backup is being restored there.
    BrokenHomeError
        The database is not the one that was there last, or cannot be opened.
    """
    tables_dir = settings.home / "tables"
    try:
        for folder in (settings.home, tables_dir):
            make_folder(folder)
        shared = in_use.share(settings.home)
    except in_use.InUseError as error:
        raise SettingsError(str(error)) from error
    except OSError as error:
        raise SettingsError(
            f"WINNOW_HOME must be a folder this user may make and write. Got {str(settings.home)!r}: {error.strerror}. "
            "Fix: name another folder; or make room there, and let this user write it."
        ) from error
    try:
        keep_private(settings.home)
        left_behind.clear(settings)
        database = open_database(settings, tables_dir, accept=accept)
        keep_private(*files_of(database))
    except BaseException:
        shared.close()
        raise
    return Home(settings, database, tables_dir, shared, Shelf(most_memory(settings)))


def most_memory(settings: Settings) -> int | None:
    """Bytes that a server may take before it puts projects away; None where the machine does not say what it has."""
    if settings.memory_mb is not None:
        return settings.memory_mb * 1_000_000
    whole = machine_memory()
    return None if whole is None else whole // 2


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
