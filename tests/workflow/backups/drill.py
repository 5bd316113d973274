"""Values compared after a restore: every row of every table, every byte of every file.

Except what a restore changes: the sign-ins and links that it ends, and the event about it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.plcore.tables.media.test_pictures import table_of
from tests.workflow.vector_world import vector_project
from tests.workflow.world import small_project
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

WHAT = {
    "sign_ins": "SELECT id, secret_hash, person_id, created_at FROM sign_ins",
    "tokens": "SELECT id, secret_hash, person_id, purpose, created_at, expires_at FROM tokens",
    "links": "SELECT id, secret_hash, person_id, created_at, used_at FROM links",
    "events": "SELECT * FROM events WHERE what != 'backup-restored'",
}


def settings_of(folder: Path) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(folder)})


def reopened(folder: Path) -> Home:
    return open_home(settings_of(folder))


def rows_of(database: Path) -> dict[str, list[str]]:
    """All rows by table; and the definitions of tables, indices and triggers."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as there:
        names = [name for (name,) in there.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        asked = {name: WHAT.get(name, f"SELECT * FROM {name}") for name in names}  # noqa: S608 - names of ours
        found = {name: sorted(map(repr, there.execute(query))) for name, query in asked.items()}
        found[""] = sorted(map(repr, there.execute("SELECT type, name, sql FROM sqlite_master")))
    return found


def files_of(home: Path) -> dict[str, str]:
    """SHA-256 of every table and every imported file, by path."""
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("tables", "media")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def three_projects(home: Home, owner: int) -> tuple[int, int, int]:
    """One label, label vectors, and one with images."""
    pictures = managing.create_project(Seat(home, owner), "pictures", table_of())
    return small_project(home, owner), vector_project(home, owner), pictures
