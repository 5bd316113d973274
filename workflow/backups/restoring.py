"""Replace a home by a backup: everything is checked before anything is changed, then it takes effect at once.

Triggers, views and unique indices that others have added to the backup's database are not restored.

Tables and their files are named by their content, so those of the backup can be next to the existing ones. The database
is replaced last, at one moment (`DatabasePlace`): before it everything is unchanged, after it everything is as in the
backup. But everyone has to sign in again: sign-ins and links that have ended since the backup must not let anyone in.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Protocol

from sqlalchemy import inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from db.copies import AlienObjectError, DamagedCopyError, check_copy, drop_aliens, end_access
from db.engine import BRIDGE, CommitUnknownError, Database, DatabaseUnavailableError, is_older, revisions, writer_of
from db.sqlite import path_in
from plcore.arrays import sync_folder
from plcore.loop import EntryKind
from workflow.backups.archive import Tell, check_archive, extract_all
from workflow.backups.manifest import ALONE, DATABASE, PROJECT, BackupError, Manifest
from workflow.files import stored
from workflow.files.stored import RESTORED, flush_all, make_folder
from workflow.people.audit import EventKind
from workflow.server import running
from workflow.server.settings import Settings
from workflow.server.store import KEPT, NOTE, where

# Replacement of the database: an SQLite file, or PostgreSQL. In both cases it takes effect at one moment, and the
# previous database is stored as an SQLite file.

_BESIDE = ("-wal", "-shm", "-journal")


class DatabasePlace(Protocol):
    """The place of a database. called : its name for the person at the terminal"""

    called: str

    def size(self) -> int | None:
        """Return the bytes needed for a copy of the existing database, or fewer; None if there is none. Raises
        BackupError."""

    def check(self) -> None:
        """Raise BackupError if the existing database cannot be replaced."""

    def put(self, home: Path, copy: Path) -> Path | None:
        """Put the SQLite file `copy` there; return the path of the previous database, None if there was none.

        Raises BackupError and OSError; nothing was changed then.
        """


def place_of(settings: Settings) -> DatabasePlace:
    """Return the place of the database in these settings. Raises BackupError."""
    url = make_url(settings.database_url)
    if url.get_backend_name() != "sqlite":
        return PostgresPlace(settings)
    if not url.database:
        raise BackupError("WINNOW_DATABASE_URL names an SQLite database without a file. Fix: name a file.")
    return SqlitePlace(path_in(url.database))


class SqlitePlace:
    """An SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.called = path.name

    def size(self) -> int | None:
        """Return the size, as `DatabasePlace.size`."""
        if not self.path.exists():
            return None
        beside = [self.path.with_name(self.path.name + ending) for ending in _BESIDE]
        return sum(one.stat().st_size for one in (self.path, *beside) if one.exists())

    def check(self) -> None:
        """Check as `DatabasePlace.check`; a damaged file can be replaced too."""

    def put(self, home: Path, copy: Path) -> Path | None:
        """Put the copy there, as `DatabasePlace.put`."""
        new = self.path.with_name(f".{self.path.name}{RESTORED}")
        try:
            shutil.move(copy, new)
            before = self._keep(home)
            (home / NOTE).unlink(missing_ok=True)  # the database is older now, as intended
            new.replace(self.path)
        finally:
            new.unlink(missing_ok=True)
        return before

    def _keep(self, home: Path) -> Path | None:
        """Store the existing database under another name; return its path, None if there is none. Accompanying files
        are removed in any case: SQLite would write an old log into the new database."""
        kept, there = _kept(home), self.path.exists()
        beside = {
            self.path.with_name(self.path.name + ending): kept.with_name(kept.name + ending) for ending in _BESIDE
        }
        try:
            if there:
                with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as before:
                    before.execute("PRAGMA journal_mode=DELETE")  # everything is in the one file then
                shutil.copyfile(self.path, kept)
            for one, aside in beside.items():  # of a database that SQLite could not read, or that was deleted
                if one.exists():
                    shutil.copy(one, aside)
        except BaseException:
            for aside in (kept, *beside.values()):
                aside.unlink(missing_ok=True)
            raise
        if not there:
            kept.unlink()
        flush_all()  # the new and the previous database must be on disk before anything is removed
        for one in beside:
            one.unlink(missing_ok=True)
        sync_folder(self.path.parent)  # they are gone before the new one has the name
        return kept if there else None


class PostgresPlace:
    """A PostgreSQL database, with nothing else in it."""

    def __init__(self, settings: Settings) -> None:
        self.called = where(settings)
        self._url = settings.database_url

    def size(self) -> int | None:
        """Return the size, as `DatabasePlace.size`, including tables of other programs."""
        with self._opened() as database, database.read() as session:
            if not inspect(session.connection()).get_table_names():
                return None
            return int(session.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    def check(self) -> None:
        """Check as `DatabasePlace.check`: only tables that can be copied first may be dropped."""
        with self._opened() as database:
            if (found := None if database.is_new() else database.revision()) not in revisions():
                raise BackupError(
                    f"What is in {self.called} is not Winnow's, or a newer Winnow's (tables of revision {found}). "
                    "Nothing was changed. Fix: make an empty database, and name it in WINNOW_DATABASE_URL."
                )

    def put(self, home: Path, copy: Path) -> Path | None:
        """Put the copy there, as `DatabasePlace.put`."""
        there = self.size() is not None
        with self._opened() as database:
            kept = _kept(home) if there else None
            try:
                if kept is not None:
                    database.copy_to(kept)
                    kept.chmod(0o600)
                    check_copy(kept, EntryKind.ROWS)
                flush_all()
                database.fill_from(copy)
            except CommitUnknownError as error:
                was = "" if kept is None else f" The previous content is in {kept}."
                raise BackupError(
                    "The connection to PostgreSQL was lost at the very end: it is unknown whether the backup was "
                    f"restored.{was} Fix: start PostgreSQL, then restore again (winnow restore FILE --replace)."
                ) from error
            except BaseException:
                if kept is not None:
                    kept.unlink(missing_ok=True)
                raise
            (home / NOTE).unlink(missing_ok=True)  # the database is older now, as intended
            return kept

    @contextmanager
    def _opened(self) -> Iterator[Database]:
        database = Database(self._url)
        try:
            yield database
        except DatabaseUnavailableError as error:
            raise BackupError(str(error)) from error
        except (RuntimeError, DamagedCopyError, AlienObjectError) as error:
            raise BackupError(f"The database cannot be carried over: {error}. Nothing was changed.") from error
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            raise BackupError(
                f"PostgreSQL does not take it ({self.called}): {said}. Nothing was changed. Fix: see that it runs, "
                "that WINNOW_DATABASE_URL is right, and that its user may make tables there."
            ) from error
        finally:
            database.close()


def _kept(home: Path) -> Path:
    """Return a new empty file for the previous database: two restores within a second get one each."""
    make_folder(home / KEPT)
    moment = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    for again in count(1):
        kept = home / KEPT / f"before-restore-{moment}{'' if again == 1 else f'-{again}'}.sqlite3"
        with suppress(FileExistsError):
            kept.touch(mode=0o600, exist_ok=False)
            break
    return kept


logger = logging.getLogger("winnow")

MADE_AGAIN = ("models", "cache", "exports", "suggestions")
"""Folders of data of the previous projects, under their ids, which other projects may have now."""


@dataclass(frozen=True)
class Restored:
    """Result of a restore. manifest : of the backup      before : path of the previous database; None if there was
    none"""

    manifest: Manifest
    before: Path | None


def restore(settings: Settings, path: Path, *, replace: bool = False, tell: Tell | None = None) -> Restored:
    """Replace the home of these settings by the backup.

    replace : existing data may be replaced; its database is stored in the folder `backups`

    Raises BackupError, which names the fault and its place; nothing was changed then.
    """
    try:
        manifest = check_archive(path, tell)
        _check_kind(path, manifest)
        place = place_of(settings)
        make_folder(settings.home)
        with running.alone(settings.home):
            stored.clear(settings, older=0.0)  # left by an interrupted restore: no other process is here
            _check_place(settings.home, place, manifest, replace=replace)
            before = _put(settings.home, place, path, manifest)
    except running.InUseError as error:
        raise BackupError(str(error)) from error
    except OSError as error:
        raise BackupError(f"{path} could not be restored to {settings.home}: {error}.") from error
    return Restored(manifest, before)


def _check_kind(path: Path, manifest: Manifest) -> None:
    if manifest.kind == PROJECT:
        raise BackupError(
            f"{path.name} is one project, not a whole Winnow. Fix: import it into a Winnow (winnow bring-in {path})."
        )
    if manifest.schema not in revisions():
        older = f"restore it with Winnow of {BRIDGE}, and make a new backup there"
        newer = "restore it with that version, or a newer one"
        fix = older if is_older(manifest.schema) else newer
        raise BackupError(f"{path.name} was written by {writer_of(manifest.schema)}. Fix: {fix}.")


def _check_place(home: Path, place: DatabasePlace, manifest: Manifest, *, replace: bool) -> None:
    size = place.size()
    if manifest.kind == ALONE and size is None:
        raise BackupError(
            "It is only the database, from before its tables were changed: it belongs to the data folder in which it "
            f"was made, and {home} has no database. Fix: restore it there, with --replace."
        )
    there = sorted({one.name for one in home.iterdir()} - {running.NAME, running.RESTORING, KEPT})
    if size is not None:
        there.append(place.called)
    if there and not replace:
        raise BackupError(
            f"The data folder {home} is not empty: {there[0]} is there. Nothing was changed. Fix: restore to another "
            "folder (--to FOLDER), or say --replace; its database is kept in the folder 'backups' then."
        )
    if size is not None:
        place.check()
    free, needed = shutil.disk_usage(home).free, manifest.size + (size or 0)
    if free < needed:
        raise BackupError(
            f"The disk of {home} has {free:,} bytes free. The backup needs {manifest.size:,}, and the copy of the "
            f"database that is there {size or 0:,}. Nothing was changed. Fix: make room, or restore to a folder on "
            "another disk."
        )


def _put(home: Path, place: DatabasePlace, path: Path, manifest: Manifest) -> Path | None:
    with tempfile.TemporaryDirectory(dir=home, prefix=stored.RESTORING) as folder:
        aside = Path(folder)
        extract_all(path, manifest, aside)
        try:
            dropped = drop_aliens(aside / DATABASE)
            facts = check_copy(aside / DATABASE, EntryKind.ROWS)
        except (DamagedCopyError, AlienObjectError) as error:
            raise BackupError(
                f"The database in {path.name} is none that works: {error}. Nothing was changed."
            ) from error
        if facts.revision != manifest.schema:
            raise BackupError(
                f"The manifest of {path.name} says revision {manifest.schema}, its database {facts.revision}. Nothing "
                "was changed."
            )
        lost = [one for one in facts.table_hashes if not (home / "tables" / f"{one}.parquet").exists()]
        if manifest.kind == ALONE and lost:
            raise BackupError(
                f"It is only the database, and {home} lacks the tables that it names: {lost[0]} is missing. "
                "Nothing was changed. Fix: restore it where it was made."
            )
        try:
            end_access(aside / DATABASE, datetime.now(UTC), EventKind.BACKUP_RESTORED.value, path.name)
        except sqlite3.Error as error:
            raise BackupError(
                f"The database in {path.name} is none that works: {error}. Nothing was changed."
            ) from error
        with _files_of(home, aside, manifest):
            for name in MADE_AGAIN:
                shutil.rmtree(home / name, ignore_errors=True)
            before = place.put(home, aside / DATABASE)
        flush_all()
        for alien in dropped:
            logger.warning("%s in %s is not Winnow's, and was left out", alien, path.name)
    return before


@contextmanager
def _files_of(home: Path, aside: Path, manifest: Manifest) -> Iterator[None]:
    """Move the files of the backup to their places, without the database. If the block fails, new files are removed
    again: a home with tables and no database does not start."""
    added = []
    try:
        for name in (one.name for one in manifest.members if one.name != DATABASE):
            target = home / name
            if not target.exists():
                added.append(target)
            elif name in manifest.damaged:
                continue  # the existing file may be better
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (aside / name).replace(target)
        (home / "tables").mkdir(mode=0o700, exist_ok=True)
        yield
    except BaseException as error:
        if not isinstance(error.__cause__, CommitUnknownError):  # otherwise the new database may be in place
            for target in added:
                with suppress(OSError):
                    target.unlink()
        raise
