"""A copy of everything that cannot be made again: the database and the uploaded tables."""

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

    The database first: every table it names is on disk by then, for tables are written before the project
    that uses them and never change.
    """
    if not home.database.is_sqlite:
        raise BackupError(
            "The database is PostgreSQL. Fix: back it up with pg_dump, and copy the folder 'tables'."
        )
    if folder.exists() and any(folder.iterdir()):
        raise BackupError(f"The folder '{folder}' is not empty. Fix: name a new one.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.database.copy_to(folder / "winnow.sqlite3")
    shutil.copytree(home.tables_dir, folder / "tables", ignore=shutil.ignore_patterns(".new-*"))
