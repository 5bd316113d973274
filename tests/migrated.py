"""Databases brought up to date once in each process and copied from then on, for a folder's conftest.

The migrations themselves are run one by one in `tests/db/test_migrations.py`.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from db.engine import Database


@cache
def _migrated() -> bytes:
    """The file of a SQLite database with all tables and nothing in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "winnow.sqlite3"
        made = Database(f"sqlite:///{path}")
        made.migrate()
        made.close()  # what was written is in the one file then
        return path.read_bytes()


def lay_database(folder: Path) -> Path:
    """The path of a migrated SQLite database in this folder, which is made where it is missing."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "winnow.sqlite3"
    path.write_bytes(_migrated())
    return path
