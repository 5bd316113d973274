"""A copy of everything that cannot be made again: the database, the uploaded tables, their images and recordings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow.home import Home


class BackupError(ValueError):
    """The backup cannot be made there, or of this kind of database."""


def backup(home: Home, folder: Path) -> None:
    """Copy into ``folder``, which must be new or empty; it can then serve as WINNOW_HOME itself.

    The database first: every file it leads to is on disk by then, for images and recordings are written before
    the table that names them, tables before the project that uses them, and none of them ever changes.
    """
    if not home.database.is_sqlite:
        raise BackupError(
            "The database is PostgreSQL. Fix: back it up with pg_dump, and copy the folders 'tables' and 'media'."
        )
    if folder.exists() and any(folder.iterdir()):
        raise BackupError(f"The folder '{folder}' is not empty. Fix: name a new one.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.database.copy_to(folder / "winnow.sqlite3")
    for source in (home.tables_dir, home.media_dir):
        if source.exists():
            shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns(".new-*"))
