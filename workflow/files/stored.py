"""Images and recordings of all tables: kept under the SHA-256 of their bytes.

`WINNOW_HOME/media/ab/abcd….png`: two letters of the name make the folder, so that none grows too long. The
files never change; the same file in two tables, or twice in one, is kept once.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import make_url

from db.sqlite import path_in
from plcore.arrays import sync_folder

if TYPE_CHECKING:
    from plcore import LabelTable
    from workflow.server.settings import Settings


# Writing a file completely or not at all.

PART = ".part"
"""Ends the name of a file that is being written."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces `path` when the block has ended. It is written in the same folder and synced,
    then renamed, and the rename is synced. If the block fails, the partial file is removed and the old one stays; if
    the name of a new file cannot be synced, it is removed, too. A pipe or ``/dev/null`` is written directly. Raises
    OSError.
    """
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    aside = path.with_name(f".{path.name[:40]}-{secrets.token_hex(4)}{PART}")
    is_new, failed = not path.exists(), [aside]
    try:
        with aside.open("xb") as file:
            if not is_new:
                shutil.copymode(path, aside)  # people who could not read the old file cannot read this one
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        failed = [path] if is_new else []
        sync_folder(path.parent)
    except BaseException:  # Ctrl-C, too
        for one in failed:
            one.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder for this user alone, with missing parents. Their names are synced, so that a power cut does not
    lose the files in them. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in missing:
        sync_folder(one.parent)


def flush_all() -> None:
    """Have the disk know all that was written: a sync for each of 50,000 files would take minutes."""
    if hasattr(os, "sync"):  # elsewhere the system alone decides when
        os.sync()


# Unfinished files of killed processes in the data folder and the backup folder: a whole database,
# perhaps, with the hashes of passwords, or a table of gigabytes.

RESTORING, BRINGING, MAKING = ".restoring-", ".bringing-", ".backup-"
"""Begin the names of folders in which a backup, or a project from elsewhere, is unpacked, or a backup is made."""
RESTORED = ".restored"
"""Ends the name of a database that is about to replace another."""
NEW = ".new-"
"""Begins the names of tables, images, neighbours and encoders before they are whole."""
DAY = 24 * 3600.0
_DRAWN = "?" * 8
"""Suffix of names from the module `tempfile`."""


def left(settings: Settings) -> list[Path]:
    """All files with such names in the data folder, even of running processes; next to a database elsewhere, only its
    own."""
    wanted = [f"{RESTORING}*", f"{BRINGING}*", f".*{RESTORED}", f".doctor-{_DRAWN}"]
    wanted += [f"tables/{NEW}*{PART}", f"media/{NEW}{_DRAWN}", f"graphs/{NEW}{_DRAWN}"]
    wanted += [f"encoders/{NEW}{_DRAWN}"]
    found = {path for one in wanted for path in settings.home.glob(one)}
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        database = path_in(url.database)
        for ending in (RESTORED, ".rescued-*"):  # a rescued file has another name once it is complete
            found |= set(database.parent.glob(f".{escape(database.name)}{ending}"))
    return sorted(found)


def clear(settings: Settings, older: float = DAY) -> None:
    """Remove what was last changed this many seconds ago; in the folder of backups, which other Winnows may share, a
    day
    ago. Files that cannot be removed stay."""
    of_backups = f"{MAKING}{_DRAWN}", f".winnow-*{PART}", f".before-*{PART}"
    backups = [path for one in of_backups for path in settings.backups_dir.glob(one)]
    for paths, age in ((left(settings), older), (backups, DAY)):
        for path in paths:
            with suppress(OSError):  # another process removes it, too
                if path.stat().st_mtime > time.time() - age:
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()


PATH = "/files"
"""Where the server gives them out (Streamlit keeps /media for itself)."""


def address(name: str) -> str:
    """The address of a stored file, relative to a page: pages and files have the same prefix."""
    return f"{PATH.lstrip('/')}/{name}"


def path_of(folder: Path, name: str) -> Path:
    """Where the file of this name is kept inside the folder of all files."""
    return folder / name[:2] / name


def keep(folder: Path, table: LabelTable) -> None:
    """Store the files that the table names; existing ones stay unchanged.

    Written aside, brought to disk all at once (a sync for each of 50,000 would take minutes), and named last:
    a file under its name is whole, also after a power cut. A disk that fills leaves nothing under a name.
    """
    if table.media.files is None:
        return
    names = [name for name in sorted(table.media.kept_names()) if not path_of(folder, name).exists()]
    if not names:
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    aside = tempfile.mkdtemp(dir=folder, prefix=NEW)
    new = folder / aside
    try:
        for name in names:
            with table.media.files.open(name) as given, (new / name).open("xb") as kept:
                shutil.copyfileobj(given, kept, 1 << 20)
        flush_all()
        for name in names:
            target = path_of(folder, name)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            (new / name).replace(target)
        flush_all()  # the names too, before a table names them
    finally:
        shutil.rmtree(new)
