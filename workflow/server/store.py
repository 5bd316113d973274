"""Open the database at a start: the one used last, or an error that describes what was found instead.

If the expected database is missing, empty, damaged, foreign or older, Winnow never starts a new one or continues
silently: the operator must confirm with `winnow accept-store`.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import DBAPIError

from db.engine import Database, UnknownTablesError, how_to_open, is_damaged, revisions
from db.identity import Identity, Note, NoteError
from db.opened_file import DamagedPagesError, is_empty, is_no_sqlite
from plcore.arrays import counted, sync_folder
from workflow.backups.manifest import BackupError
from workflow.files.stored import make_folder
from workflow.server.running import one_at_a_time
from workflow.server.settings import Settings, SettingsError

# Create the first SQLite database at a path: complete on disk before it gets its name.
#
# A start that is interrupted, by a kill or a power cut, leaves no database. The next start begins again and does not
# find an empty one, which might be the rest of a lost one.

BEGUN = ".begun"
"""Suffix of the name of a database being created."""
BESIDE_SQLITE = ("-wal", "-shm", "-journal")
"""Endings of SQLite's files next to the database."""


def begin(path: Path) -> None:
    """Create a database with our tables at this path, if there is none. Of several starts at once, one creates it.

    Raises sqlite3.Error, sqlalchemy.exc.DBAPIError, OSError; then nothing is left.
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
                sync_folder(path.parent)  # before there is a database to copy it into
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
        ).fetchall()  # then the single file has everything; otherwise this raises
    handle = os.open(new, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in BESIDE_SQLITE]


def _remove(*paths: Path) -> bool:
    """Whether any was there."""
    there = [path for path in paths if path.exists()]
    for path in there:
        path.unlink(missing_ok=True)
    return bool(there)


# Copy of the database before a migration: no migration runs without one.
#
# It has no tables and files, which a migration does not change: a restored copy is put next to them.


def copy_before(database: Database, folder: Path) -> Path | None:
    """If the database needs a migration, write a copy of it into the folder; return its path, or None.

    Raises BackupError.
    """
    found, newest = database.revision(), revisions()[0]
    if found not in revisions()[1:]:  # a new one, one that is up to date, or one of a newer Winnow
        return None
    from workflow.backups import making  # few starts make a copy

    moment = datetime.now(UTC)
    path = folder / f"before-{newest}-{moment:%Y%m%d-%H%M%S}-{os.getpid()}.zip"
    try:
        make_folder(folder)
        making.make_of(database, folder, folder, path, alone=True)
    except (BackupError, OSError) as error:
        raise BackupError(
            f"The tables of the database have to be brought from revision {found} to {newest}, and no copy could be "
            f"made before: {error} Nothing was changed."
        ) from error
    return path


KEPT = "backups"
"""Folder of a home for its backups."""
NOTE = "database.seen"
"""File in WINNOW_HOME that records the database used last, and its state."""
BESIDE = ("", "-wal", "-shm")
"""Endings of SQLite's files."""


class BrokenHomeError(SettingsError):
    """The database does not match the other data in WINNOW_HOME, or cannot be opened."""


def note_of(settings: Settings) -> Note:
    return Note(settings.home / NOTE)


def open_database(settings: Settings, tables_dir: Path, *, accept: bool = False) -> Database:
    """Return the database, with its tables up to date.

    accept : accept any database found; if there is none, create one

    Raises BrokenHomeError.
    """
    note = note_of(settings)
    database = Database(settings.database_url, note)
    try:
        if not accept:
            _check_there(settings, database, tables_dir, _noted(settings))
            _check_same(settings, database, note)
        if database.path is not None and not database.path.exists():
            begin(database.path)
        copy_before(database, settings.backups_dir)
        database.migrate()
    except UnknownTablesError as error:
        database.close()
        raise BrokenHomeError(f"The database {where(settings)} {error}. Fix: {how_to_open(error.revision)}.") from error
    except BackupError as error:
        database.close()
        raise BrokenHomeError(str(error)) from error
    except (DBAPIError, sqlite3.Error, OSError) as error:
        database.close()
        raise BrokenHomeError(_why(settings, error)) from error
    except BaseException:
        database.close()
        raise
    return database


LOOKED_THROUGH = 200_000_000
"""Size in bytes up to which a server checks the whole database at every start: half a second."""


def was_left_open(settings: Settings) -> bool:
    """Return whether the last process with the SQLite database open ended without closing it. Call it before
    opening."""
    database = Database(settings.database_url)
    return database.path is not None and database.path.with_name(f"{database.path.name}-wal").exists()


def check_pages(settings: Settings, database: Database, *, left_open: bool) -> None:
    """Raise BrokenHomeError if a page of an SQLite database is damaged. A large one is looked through only if it was
    left open."""
    if database.path is None or not (left_open or database.path.stat().st_size <= LOOKED_THROUGH):
        return
    try:
        database.check_pages()
    except DamagedPagesError as error:
        raise BrokenHomeError(_damaged(settings)) from error


def files_of(database: Database) -> list[Path]:
    """Return the files of an SQLite database, existing or not; none for PostgreSQL."""
    if database.path is None:
        return []
    return [database.path.with_name(database.path.name + ending) for ending in BESIDE]


def _noted(settings: Settings) -> Identity | None:
    try:
        return note_of(settings).read()
    except NoteError as error:
        raise BrokenHomeError(f"{error} {_choice(settings)}") from error


def _check_there(settings: Settings, database: Database, tables_dir: Path, noted: Identity | None) -> None:
    """Raise BrokenHomeError if a failed copy, or half a restored backup, would be taken for a first start."""
    if database.path is not None and is_empty(database.path):
        raise BrokenHomeError(f"The database {where(settings)} is empty (0 bytes). {_choice(settings)}")
    if database.path is not None and is_no_sqlite(
        database.path
    ):  # checked before SQLite opens it, which may delete files next to it
        raise BrokenHomeError(_damaged(settings))
    tables = sum(1 for _ in tables_dir.glob("*.parquet"))
    if (tables or noted) and database.is_new():
        there = (
            f"{tables_dir} holds {counted(tables, 'table')} of projects"
            if tables
            else f"there was one when {NOTE} next to it was written"
        )
        raise BrokenHomeError(f"There is no database at {where(settings)}, but {there}. {_choice(settings)}")


def _check_same(settings: Settings, database: Database, note: Note) -> None:
    """Raise BrokenHomeError if it is not the database used last, or an older state of it."""
    noted = _noted(settings)
    if noted is None or database.is_new():
        return
    found = database.identity()
    seen = f"the one that was seen last, at {note.seen_at():%Y-%m-%d %H:%M} UTC"
    if found is not None and found.id != noted.id:
        raise BrokenHomeError(f"The database {where(settings)} is another one than {seen}. {_choice(settings)}")
    behind = noted.height - (0 if found is None else found.height)
    if behind > 0:
        raise BrokenHomeError(
            f"The database {where(settings)} is older than {seen}: {behind:,} "
            f"change{'' if behind == 1 else 's'} (answers among them, perhaps) would be missing. {_choice(settings)}"
        )


def set_aside_what_is_none(settings: Settings) -> list[Path]:
    """Rename the files of an SQLite database that is empty or damaged; return their new paths. Raises OSError."""
    database = Database(settings.database_url)
    if database.path is None or not (is_no_sqlite(database.path) or _is_damaged(database)):
        return []
    aside = _free_name(database.path)
    moved = []
    for found, ending in zip(files_of(database), BESIDE, strict=True):
        if found.exists():
            moved.append(found.rename(found.with_name(f"{aside}{ending}")))
    return moved


def _free_name(path: Path) -> str:
    """Return a name not used by any file next to it, nor by its accompanying files, even twice within a second."""
    name = f"{path.name}.set-aside-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    tried = (name if again == 1 else f"{name}-{again}" for again in count(1))
    return next(one for one in tried if not any(path.with_name(f"{one}{end}").exists() for end in BESIDE))


def _is_damaged(database: Database) -> bool:
    if database.path is None or not database.path.exists():
        return False
    try:
        database.identity()
    except DBAPIError as error:
        return is_damaged(error)
    finally:
        database.close()
    return False


def where(settings: Settings) -> str:
    """Return the database in words for the terminal, without a password."""
    url = make_url(settings.database_url)
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


def _why(settings: Settings, error: DBAPIError | sqlite3.Error | OSError) -> str:
    """Return why the database cannot be opened, in one line."""
    if isinstance(error, DBAPIError) and is_damaged(error):
        return _damaged(settings)
    said = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
    if not make_url(settings.database_url).drivername.startswith("sqlite"):
        return f"The database {where(settings)} does not answer: {said}. Fix: start it, or correct WINNOW_DATABASE_URL."
    return (
        f"The database {where(settings)} cannot be opened for writing: {said}. Fix: make room on the disk, and let "
        "this user write the file and its folder."
    )


def _damaged(settings: Settings) -> str:
    return f"The database {where(settings)} is damaged, or no database of Winnow's. {_choice(settings)}"


def newest_backup(settings: Settings) -> Path | None:
    """Return the latest backup in the default folder."""
    return max(settings.backups_dir.glob("winnow-*.zip"), default=None)  # the names are the times


def _choice(settings: Settings) -> str:
    newest = newest_backup(settings)
    return (
        f"Fix: put the right one back, from a backup perhaps (winnow restore {newest or 'FILE'} --replace); or go on "
        "with what is there, for good (winnow accept-store)."
    )
