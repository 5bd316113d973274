"""A backup of everything that cannot be recreated: the database, the uploaded tables, their images and recordings.

It is made while others continue answering. The database is copied first, at one moment. Every file that it names is on
disk by then: images and recordings are written before the table that names them, tables before the project that uses
them, and none of them ever changes. A backup does not include caches, model versions, small images and exports, which
are recreated when needed, or the folder `encoders`, which the operator fills. The database is stored as an SQLite file,
whatever it is here (`db.engine`).
"""

from __future__ import annotations

import errno
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from sqlalchemy.exc import DBAPIError

from db.copies import AlienObjectError, CopyFacts, DamagedCopyError, check_copy
from db.engine import Database, DatabaseUnavailableError
from plcore.arrays import no_room
from plcore.loop import EntryKind
from workflow.backups.archive import Tell, is_ours, write_archive
from workflow.backups.manifest import ALONE, DATABASE, HOME, BackupError, Manifest
from workflow.files.stored import MAKING, path_of


class Stored(Protocol):
    """Contents of a backup, from a `Home`."""

    @property
    def database(self) -> Database: ...
    @property
    def tables_dir(self) -> Path: ...
    @property
    def media_dir(self) -> Path: ...


def name_at(moment: datetime) -> str:
    """Return the name of a backup made at this time."""
    return f"winnow-{moment:%Y%m%d-%H%M%S}.zip"


def place_at(folder: Path, moment: datetime) -> Path:
    """Return the path in this folder of a backup made at this time. If the name is taken, it is that of the next
    second."""
    while (place := folder / name_at(moment)).exists():
        moment += timedelta(seconds=1)
    return place


def make(home: Stored, path: Path, tell: Tell | None = None) -> Manifest:
    """Write a backup of the home to a new file, and read it again; return its manifest.

    Raises BackupError, in words: the file exists, the disk is full, or the database is damaged.
    """
    return make_of(home.database, home.tables_dir, home.media_dir, path, tell)


def make_of(
    database: Database, tables_dir: Path, media_dir: Path, path: Path, tell: Tell | None = None, *, alone: bool = False
) -> Manifest:
    """Make a backup as `make`, from the parts of a home, which need not be up to date. alone : only the database"""
    if path.exists():
        raise BackupError(f"There is a file {path} already. Fix: name another one.")
    if not path.parent.is_dir():
        raise BackupError(f"There is no folder {path.parent}. Fix: make it, or name another one.")
    moment = datetime.now(UTC)
    with in_words(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=MAKING) as aside:
        copy = Path(aside) / DATABASE
        database.copy_to(copy)
        facts = check_copy(copy, EntryKind.ROWS)
        files = {} if alone else dict(_files(tables_dir, media_dir))
        named = set() if alone else named_files(facts, tables_dir, media_dir)
        manifest = Manifest(
            kind=ALONE if alone else HOME,
            schema=facts.revision,
            made_at=moment.isoformat(timespec="seconds"),
            counts=facts.counts,
            missing=tuple(sorted(named - files.keys())),
        )
        return write_archive(path, manifest, [(DATABASE, copy), *sorted(files.items())], tell)


def strays(tables_dir: Path, media_dir: Path) -> list[str]:
    """Return the names of files among the tables and their files that are not Winnow's, left by the system or a person.
    They are in no backup."""
    return sorted(name for name, _ in _all_files(tables_dir, media_dir) if not is_ours(name))


def _files(tables_dir: Path, media_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name in the backup, and the path, of every table and every file of one."""
    return ((name, path) for name, path in _all_files(tables_dir, media_dir) if is_ours(name))


def _all_files(tables_dir: Path, media_dir: Path) -> Iterator[tuple[str, Path]]:
    for path in tables_dir.glob("*.parquet"):
        yield f"tables/{path.name}", path
    for path in media_dir.glob("[0-9a-f][0-9a-f]/*"):
        yield f"media/{path.parent.name}/{path.name}", path


def named_files(facts: CopyFacts, tables_dir: Path, media_dir: Path) -> set[str]:
    """Return the files that the database's projects need."""
    from plcore.tables import read_kept_names

    found = set()
    for table_hash in facts.table_hashes:
        found.add(f"tables/{table_hash}.parquet")
        try:
            kept = read_kept_names(tables_dir / f"{table_hash}.parquet")
        except (OSError, ValueError):  # missing or damaged; the manifest tells which
            continue
        found |= {f"media/{path_of(media_dir, name).relative_to(media_dir).as_posix()}" for name in kept}
    return found


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Raise BackupError if the block fails because of the database or the disk."""
    whole = "The incomplete backup was removed."
    try:
        yield
    except DamagedCopyError as error:
        raise BackupError(
            f"The database is damaged: {error}. {whole} Fix: stop Winnow and restore the latest backup (winnow restore "
            "FILE --replace); winnow doctor says more."
        ) from error
    except AlienObjectError as error:
        raise BackupError(f"The database is whole, but {error}. {whole} Fix: {error.fix}") from error
    except (sqlite3.Error, DBAPIError) as error:
        plain = error.orig if isinstance(error, DBAPIError) else error
        if getattr(plain, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise BackupError(_no_room(path, str(plain), whole)) from error
        raise BackupError(
            f"The database could not be copied: {plain}. {whole} Fix: winnow doctor says what is wrong with it."
        ) from error
    except DatabaseUnavailableError as error:
        raise BackupError(str(error)) from error
    except RuntimeError as error:
        raise BackupError(f"The database could not be copied: {error}. {whole} Fix: try again.") from error
    except OSError as error:
        if no_room(error) or error.errno == errno.EFBIG:
            raise BackupError(_no_room(path, str(error.strerror), whole)) from error
        raise BackupError(f"The backup {path} could not be made: {error}. {whole}") from error


def _no_room(path: Path, why: str, whole: str) -> str:
    return (
        f"The backup {path} could not be written ({why}). {whole} Fix: make room on the disk, or name a file on "
        "another one."
    )
