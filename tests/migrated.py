"""Databases for a folder's conftest: migrated once in each process and then copied; made by the steps before 0.2.0; and
with a step after those of this Winnow."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest

import db.sqlite
from db.engine import MIGRATIONS, Database, revisions

LATER = "9000"
_STEPS = Path(__file__).with_name("db") / "steps.sql"
_LATER_STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{revision}", "{before}"


def upgrade() -> None:
    op.add_column("projects", sa.Column("later", sa.Text(), nullable=True))
"""


@cache
def _migrated() -> bytes:
    """The file of a SQLite database with all tables and no rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "winnow.sqlite3"
        made = Database(f"sqlite:///{path}")
        made.migrate()
        made.close()  # the data is then in the single file
        return path.read_bytes()


def lay_database(folder: Path) -> Path:
    """The path of a migrated SQLite database in this folder, created if missing."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "winnow.sqlite3"
    path.write_bytes(_migrated())
    return path


def lay_steps(path: Path) -> None:
    """A SQLite database at this path, as the nineteen steps before 0.2.0 made it, with its columns in another order."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_STEPS.read_text())
        file.execute("INSERT INTO alembic_version VALUES ('0019')")
        file.execute("INSERT INTO identity VALUES (?)", ("00000007" + "a" * 24,))
        file.execute("PRAGMA application_id = 7")
        file.commit()


@contextmanager
def a_step_more(folder: Path) -> Iterator[None]:
    """Meanwhile, pretend that the database has a later revision, `LATER`, whose projects have one more column."""
    migrations = folder / "migrations"
    shutil.copytree(MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    step = _LATER_STEP.format(revision=LATER, before=revisions()[0])
    (migrations / "versions" / f"{LATER}_later.py").write_text(step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db.sqlite, "MIGRATIONS", migrations)
        _forget()
        yield
    _forget()


def _forget() -> None:
    db.sqlite.revisions.cache_clear()
    db.sqlite._made_by_migrations.cache_clear()
