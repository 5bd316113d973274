"""The home: settings, database, the folder of tables and the learners, opened once per process."""

from __future__ import annotations

import functools
import logging
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from db import people
from db.engine import Database, DatabaseUnavailableError
from plcore.arrays import no_room
from workflow.files import stored
from workflow.files.arriving import Arrivals
from workflow.files.prepared import PreparedFiles
from workflow.files.stored import make_folder
from workflow.server import running
from workflow.server.jobs import KeptJobs
from workflow.server.settings import Settings, SettingsError
from workflow.server.shelf import Shelf, machine_memory
from workflow.server.store import files_of, open_database

if TYPE_CHECKING:
    from db.people import SignedIn
    from plcore import LabelTable
    from workflow.people.attempts import Attempts

# The data folder is for one user of the machine: others can read neither answers nor annotators.

logger = logging.getLogger("winnow")

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(*paths: Path) -> None:
    """Remove all rights of other users on these folders and files, or log why that is impossible. Missing files are
    skipped."""
    for path in paths:
        try:
            mode = path.stat().st_mode
            if not mode & _OTHERS:
                continue
            why = _why_not(path, mode)
            if why is None:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
                continue
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or type(error).__name__
        logger.warning(
            "Other users of this machine may read %s, and that could not be changed: %s. "
            "Fix: make the user who runs Winnow its owner, for that user alone (chown, chmod go-rwx).",
            path,
            why,
        )


def _why_not(path: Path, mode: int) -> str | None:
    """Return why others need a folder that someone set as the data folder; None if it is only Winnow's."""
    if mode & stat.S_ISVTX:
        return "it is a folder for everyone's files"
    if path.resolve() == Path(path.anchor) or _is_home_of_user(path):
        return "it holds more than Winnow's data"
    return None


def _is_home_of_user(path: Path) -> bool:
    try:
        return path.resolve() == Path.home().resolve()
    except RuntimeError:
        return False  # a user without a home, such as a numeric user in a container without HOME


# Sign-ins found in the database, cached until the next commit to it.
#
# A page requests a hundred files at once, each only for signed-in people. Checking whether the database has changed
# takes a fraction of the time of a sign-in lookup. A sign-in that ends, here or in another process, changes the
# database.


class KnownBrowsers:
    """Sign-ins found since the latest commit, by the SHA-256 of their secret."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._found: dict[str, SignedIn] = {}

    def find(self, database: Database, secret_hash: str, now: datetime) -> SignedIn | None:
        """Run `sign_ins.find`, unless the database is known to be unchanged.

        PostgreSQL is always asked: there the check takes as long as the lookup.
        """
        if not database.is_sqlite:
            return _asked(database, secret_hash, now)
        try:  # before it is asked, never after
            state = (database.times_replaced, *database.stamp())
        except (SQLAlchemyError, DatabaseUnavailableError):
            return _asked(database, secret_hash, now)  # ask anyway; an error says why it fails
        with self._lock:
            if state != self._state:
                self._state, self._found = state, {}
            known = self._found.get(secret_hash)
        if known is not None and now < known.expires_at:
            return known
        found = _asked(database, secret_hash, now)
        with self._lock:
            if found is not None and state == self._state:
                self._found[secret_hash] = found
        return found


def _asked(database: Database, secret_hash: str, now: datetime) -> SignedIn | None:
    with database.read(single=True) as session:
        return people.find_sign_in(session, secret_hash, now)


class LostTableError(DatabaseUnavailableError):
    """The file of an uploaded table is missing or damaged; the message is for everyone to read."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The project's table (tables/{name} in the data folder) is missing or damaged. No answer is lost: they "
            "are in the database. Fix: put the file back from a backup (winnow restore FILE --to FOLDER, then copy "
            "it); winnow doctor says which are missing."
        )


class NoRoomError(DatabaseUnavailableError):
    """There is no disk space to load a table, or for data computed from its rows; the message is for all users."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "There is no room left on the disk for the project: its table, or what is made of its rows, is in "
            f"{folder}. No answer is lost. Fix: make room there, and come back."
        )


@contextmanager
def room_for_learner() -> Iterator[None]:
    """Raises NoRoomError if there is no disk space for files computed from many rows."""
    try:
        yield
    except OSError as error:
        if not no_room(error):
            raise
        raise NoRoomError(Path(error.filename or tempfile.gettempdir())) from error


@dataclass(frozen=True)
class Home:
    """The home of a process, passed to every use case. Its opener closes it."""

    settings: Settings
    database: Database
    tables_dir: Path
    shared: IO[bytes]  # the lock of `workflow.server.running`
    shelf: Shelf = field(default_factory=Shelf)
    prepared: PreparedFiles = field(default_factory=PreparedFiles)
    arrivals: Arrivals = field(default_factory=Arrivals)
    jobs: KeptJobs = field(default_factory=KeptJobs)
    known_browsers: KnownBrowsers = field(default_factory=KnownBrowsers)

    @functools.cached_property
    def attempts(self) -> Attempts:
        """Return the counter of sign-in attempts. If two threads create it at once, one attempt is not counted."""
        from workflow.people.attempts import (
            Attempts,  # its library takes a tenth of a second to import, and only servers need it
        )

        return Attempts()

    def table_path(self, table_hash: str) -> Path:
        """Return the path of the table with this SHA-256 (64 hex digits)."""
        return self.tables_dir / f"{table_hash}.parquet"

    def read_table(self, table_hash: str) -> LabelTable:
        """Return the table with this SHA-256. Raises LostTableError, NoRoomError."""
        from plcore import LabelTable

        try:
            return LabelTable.read(self.table_path(table_hash))
        except (OSError, ValueError) as error:
            if no_room(error):
                raise NoRoomError(self.tables_dir) from error
            raise LostTableError(self.table_path(table_hash).name) from error

    def table_size(self, table_hash: str) -> int:
        """Return the bytes of the table's file. Raises LostTableError."""
        try:
            return self.table_path(table_hash).stat().st_size
        except OSError as error:
            raise LostTableError(self.table_path(table_hash).name) from error

    def store_table(self, table: LabelTable) -> str:
        """Store the table as an immutable file and return its SHA-256, the file's name. Storing it twice is
        harmless."""
        stored.keep(self.media_dir, table)  # a table never names a missing image
        return table.write_named(self.tables_dir)  # completely on disk before a project names it

    @property
    def media_dir(self) -> Path:
        """Return the folder of the images and recordings of all tables; created on first use."""
        return self.settings.home / "media"

    @property
    def thumbnails_dir(self) -> Path:
        """Return the folder of cached small images."""
        return self.settings.home / "thumbnails"

    def model_path(self, project_id: int, key: str, version: int) -> Path:
        """Return the path of the scores of a model version. key : of the settings it was trained with"""
        return self.settings.home / "models" / f"{project_id}-{key}" / f"{version}.npy"

    @property
    def cache_dir(self) -> Path:
        """Return the folder of data that can be recreated at any time; created on first use."""
        return self.settings.home / "cache"

    @property
    def encoders_dir(self) -> Path:
        """Return the folder in which the operator puts their own models, a folder each; created by hand."""
        return self.settings.home / "encoders"

    @property
    def suggestions_dir(self) -> Path:
        """Return the folder of the journals and keys of language models; created on first use. It is in no backup."""
        return self.settings.home / "suggestions"

    @property
    def exports_dir(self) -> Path:
        """Return the folder of files for people to download; created on first use."""
        return self.settings.home / "exports"

    @property
    def backups_dir(self) -> Path:
        """Return the default folder of backups; created on first use."""
        return self.settings.backups_dir

    @property
    def servers_dir(self) -> Path:
        """Return the folder in which running servers note their address for browsers (`workflow.server.running`)."""
        return self.settings.home / "servers"

    @property
    def uploads_dir(self) -> Path:
        """Return the folder of uploaded files until they are read; created on first use."""
        return self.settings.home / "uploads"

    def close(self) -> None:
        self.jobs.close()  # before their resources are closed
        self.prepared.close()
        self.arrivals.close()
        self.shelf.close()
        self.database.close()
        self.shared.close()


def open_home(settings: Settings, *, accept: bool = False) -> Home:
    """Create missing folders, for this user only, and bring the database up to date.

    accept : accept any database found (`workflow.server.store.open_database`)

    Raises
    SettingsError : WINNOW_HOME cannot be such a folder, or a backup is being restored there.
    BrokenHomeError : The database is not the one used last, or cannot be opened.
    """
    tables_dir = settings.home / "tables"
    try:
        for folder in (settings.home, tables_dir):
            make_folder(folder)
        shared = running.share(settings.home)
    except running.InUseError as error:
        raise SettingsError(str(error)) from error
    except OSError as error:
        raise SettingsError(
            f"WINNOW_HOME must be a folder this user may make and write. Got {str(settings.home)!r}: {error.strerror}. "
            "Fix: name another folder; or make room there, and let this user write it."
        ) from error
    try:
        keep_private(settings.home)
        stored.clear(settings)
        database = open_database(settings, tables_dir, accept=accept)
        keep_private(*files_of(database))
    except BaseException:
        shared.close()
        raise
    return Home(settings, database, tables_dir, shared, Shelf(most_memory(settings)))


def most_memory(settings: Settings) -> int | None:
    """Return the bytes of memory that a server may use before it unloads projects; None if the machine's memory is
    unknown."""
    if settings.memory_mb is not None:
        return settings.memory_mb * 1_000_000
    whole = machine_memory()
    return None if whole is None else whole // 2


_opening = threading.Lock()


@functools.cache
def _process_home() -> Home:
    return open_home(Settings.from_environment())


def home() -> Home:
    """Return the home of this process, opened at the first call with the environment's settings."""
    with _opening:  # functools.cache alone would let two first callers open it twice
        return _process_home()


def close_home() -> None:
    """Close the process's home if it is open; the next `home()` opens it again."""
    with _opening:
        if _process_home.cache_info().currsize:
            _process_home().close()
            _process_home.cache_clear()
