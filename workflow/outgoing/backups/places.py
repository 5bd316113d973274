"""Where a backup's database is put: an SQLite file, or PostgreSQL. Either way all of it is there at one moment, and
what was there before is kept as an SQLite file.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from db.copies import AlienObjectError, DamagedCopyError, look_into
from db.engine import CommitUnknownError, Database, DatabaseUnavailableError, revisions
from db.sqlite_engine import path_in
from plcore.loop import EntryKind
from workflow.common.left_behind import RESTORED
from workflow.common.store import KEPT, NOTE, where
from workflow.common.whole_file import flush_all, make_folder, sync_folder
from workflow.outgoing.backups.manifest import BackupError

if TYPE_CHECKING:
    from workflow.settings import Settings

_BESIDE = ("-wal", "-shm", "-journal")


class DatabasePlace(Protocol):
    """called : in words for the person at the terminal"""

    called: str

    def size(self) -> int | None:
        """Bytes that a copy of what is there needs, or less; None where nothing is there. Raises BackupError."""

    def check(self) -> None:
        """Raises BackupError where what is there cannot be replaced."""

    def put(self, home: Path, copy: Path) -> Path | None:
        """Put the SQLite file `copy` there; where the database lies that was there, None where there was none.

        Raises BackupError and OSError; nothing was changed then.
        """


def place_of(settings: Settings) -> DatabasePlace:
    """Where the database of these settings is. Raises BackupError."""
    url = make_url(settings.database_url)
    if url.get_backend_name() != "sqlite":
        return PostgresPlace(settings)
    if not url.database:
        raise BackupError("WINNOW_DATABASE_URL names an SQLite database without a file. Fix: name a file.")
    return SqlitePlace(path_in(url.database))


class SqlitePlace:
    """A file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.called = path.name

    def size(self) -> int | None:
        """As `DatabasePlace.size`."""
        if not self.path.exists():
            return None
        beside = [self.path.with_name(self.path.name + ending) for ending in _BESIDE]
        return sum(one.stat().st_size for one in (self.path, *beside) if one.exists())

    def check(self) -> None:
        """As `DatabasePlace.check`: a file that is damaged is replaced, too."""

    def put(self, home: Path, copy: Path) -> Path | None:
        """As `DatabasePlace.put`."""
        new = self.path.with_name(f".{self.path.name}{RESTORED}")
        try:
            shutil.move(copy, new)
            before = self._keep(home)
            (home / NOTE).unlink(missing_ok=True)  # an older database is meant now
            new.replace(self.path)
        finally:
            new.unlink(missing_ok=True)
        return before

    def _keep(self, home: Path) -> Path | None:
        """Give the database that is there another name, too; where it lies then, None where there is none. Nothing is
        left beside it, whether it is there or not: SQLite would write an old log into the one that comes."""
        kept, there = _kept(home), self.path.exists()
        beside = {
            self.path.with_name(self.path.name + ending): kept.with_name(kept.name + ending)
            for ending in _BESIDE
        }
        try:
            if there:
                with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as before:
                    before.execute("PRAGMA journal_mode=DELETE")  # what was written is in the one file then
                shutil.copyfile(self.path, kept)
            for one, aside in beside.items():  # of a database that SQLite could not read, or that is deleted
                if one.exists():
                    shutil.copy(one, aside)
        except BaseException:
            for aside in (kept, *beside.values()):
                aside.unlink(missing_ok=True)
            raise
        if not there:
            kept.unlink()
        flush_all()  # what comes, and what was there, before any of it goes
        for one in beside:
            one.unlink(missing_ok=True)
        sync_folder(self.path.parent)  # they are gone before the new one has the name
        return kept if there else None


class PostgresPlace:
    """A database of PostgreSQL, with nothing else in it."""

    def __init__(self, settings: Settings) -> None:
        self.called = where(settings)
        self._url = settings.database_url

    def size(self) -> int | None:
        """As `DatabasePlace.size`. Tables of somebody else's count, too."""
        with self._opened() as database, database.read() as session:
            if not inspect(session.connection()).get_table_names():
                return None
            return int(session.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    def check(self) -> None:
        """As `DatabasePlace.check`: only tables that can be copied before may go."""
        with self._opened() as database:
            if (found := None if database.is_new() else database.revision()) not in revisions():
                raise BackupError(
                    f"What is in {self.called} is not Winnow's, or a newer Winnow's (tables of revision {found}). "
                    "Nothing was changed. Fix: make an empty database, and name it in WINNOW_DATABASE_URL."
                )

    def put(self, home: Path, copy: Path) -> Path | None:
        """As `DatabasePlace.put`."""
        there = self.size() is not None
        with self._opened() as database:
            kept = _kept(home) if there else None
            try:
                if kept is not None:
                    database.copy_to(kept)
                    kept.chmod(0o600)
                    look_into(kept, EntryKind.ROWS)
                flush_all()
                database.fill_from(copy)
            except CommitUnknownError as error:
                was = "" if kept is None else f" What was there is in {kept}."
                raise BackupError(
                    "The connection to PostgreSQL was lost at the very end: it is not known whether the backup is in "
                    f"its place.{was} Fix: start PostgreSQL, then restore again (winnow restore FILE --replace)."
                ) from error
            except BaseException:
                if kept is not None:
                    kept.unlink(missing_ok=True)
                raise
            (home / NOTE).unlink(missing_ok=True)  # an older database is meant now
            return kept

    @contextmanager
    def _opened(self) -> Iterator[Database]:
        database = Database(self._url)
        try:
            yield database
        except DatabaseUnavailableError as error:
            raise BackupError(str(error)) from error
        except (RuntimeError, DamagedCopyError, AlienObjectError) as error:
            raise BackupError(
                f"The database cannot be carried over: {error}. Nothing was changed."
            ) from error
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            raise BackupError(
                f"PostgreSQL does not take it ({self.called}): {said}. Nothing was changed. Fix: see that it runs, "
                "that WINNOW_DATABASE_URL is right, and that its user may make tables there."
            ) from error
        finally:
            database.close()


def _kept(home: Path) -> Path:
    """A new empty file for the database that is there: two restores of one second keep one each."""
    make_folder(home / KEPT)
    moment = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    for again in count(1):
        kept = home / KEPT / f"before-restore-{moment}{'' if again == 1 else f'-{again}'}.sqlite3"
        with suppress(FileExistsError):
            kept.touch(mode=0o600, exist_ok=False)
            break
    return kept
