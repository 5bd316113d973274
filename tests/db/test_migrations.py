from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.orm import Session

from db.base import Base
from db.engine import MIGRATIONS, Database, revisions


def add_people(session: Session, **roles: str) -> None:
    """As every version of the tables had them. roles : {name: role}"""
    for name, role in roles.items():
        session.execute(
            text("INSERT INTO people (name, role, created_at) VALUES (:name, :role, '2026-01-01')"),
            {"name": name, "role": role},
        )


def test_the_migrations_make_the_tables_of_the_models(database: Database) -> None:
    with database.write() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.write() as session:
        add_people(session, ada="owner")
    database.migrate()
    with database.read() as session:
        assert session.execute(text("SELECT name FROM people")).scalars().all() == ["ada"]


def test_tables_that_are_up_to_date_are_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.command.upgrade", lambda *_: pytest.fail("read every migration"))
    database.migrate()


def test_any_working_directory_will_do(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Database(sqlite_url)
    made.migrate()
    with made.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == revisions()[0]
    made.close()


def test_a_migration_that_fails_leaves_nothing_behind(sqlite_url: str) -> None:
    made = Database(sqlite_url)
    with made.write() as session:
        session.execute(
            text("CREATE TABLE questions (nonsense TEXT)")
        )  # the last table of the first migration
    with pytest.raises(Exception, match="questions already exists"):
        made.migrate()
    with made.read() as session:
        tables = session.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()
    assert tables == ["questions"]
    made.close()
