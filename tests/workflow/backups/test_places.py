"""The drill on PostgreSQL: from it, to it, and from one database to the other and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Table, select, text

from db import engine
from db.base import Base
from db.engine import Database, revisions
from tests.clocks import stopped
from tests.databases import on_postgres, on_sqlite
from tests.migrated import a_step_more, lay_database
from tests.postgres import Server
from tests.postgres_proxy import proxied
from tests.workflow.backups.drill import files_of, rows_of, settings_of, three_projects
from tests.workflow.vector_world import answer_truly
from tests.workflow.world import annotator, answer_next
from workflow.answering import loop
from workflow.backups import making, restoring, staging
from workflow.backups.archive import check_archive
from workflow.backups.manifest import ALONE, DATABASE, BackupError
from workflow.backups.restoring import SqlitePlace, place_of, restore
from workflow.log import verifying
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings
from workflow.server.store import NOTE

OLD = revisions()[0]


def stored(home: Home) -> dict[str, list[Any]]:
    """Every row of every table, as Winnow reads it, except what a thread may be training meanwhile, and what a restore
    ends and records."""
    with home.database.read() as session:
        found = {
            one.name: list(session.execute(select(*_compared(one)).order_by(*one.primary_key)).all())
            for one in Base.metadata.sorted_tables
            if one.name not in ("models", "trainings")
        }
    found["events"] = [one for one in found["events"] if one.what != "backup-restored"]
    return found


def _compared(table: Table) -> list[Column[Any]]:
    ends = {"sign_ins": "ended_at", "tokens": "ended_at", "links": "expires_at"}
    return [one for one in table.columns if one.name != ends.get(table.name)]


def asked(home: Home, owner: int, *wanted: int) -> list[object]:
    found = [loop.next_question(Seat(home, owner, project)) for project in wanted]
    return [one and one.token for one in found]


def heads(home: Home, owner: int, *wanted: int) -> list[str]:
    """The heads of the sealed logs, which differ if any entry differs."""
    return [verifying.verify_project(Seat(home, owner, project))[0].head for project in wanted]


@contextmanager
def reopened(settings: Settings) -> Iterator[Home]:
    home = open_home(settings)
    try:
        yield home
    finally:
        home.close()


@pytest.fixture
def empty(postgres_server: Server, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a new folder, and a PostgreSQL database without tables."""
    with postgres_server.empty_database() as url:
        yield Settings.from_environment({"WINNOW_HOME": str(tmp_path / "new"), "WINNOW_DATABASE_URL": url})


@on_sqlite
@pytest.mark.postgres
def test_restored_winnow_is_the_same_on_either_database(
    home: Home, owner: int, empty: Settings, tmp_path: Path
) -> None:
    """SQLite to PostgreSQL, on to SQLite, and everything is there: rows, files, seals, next questions."""
    wanted = three_projects(home, owner)
    one, vectors, pictures = wanted
    ada = annotator(home, owner, "Ada")
    for person in (owner, ada):
        answer_next(home, person, one)
        answer_next(home, person, pictures)
    answer_truly(home, owner, vectors)
    questions, seals = asked(home, owner, *wanted), heads(home, owner, *wanted)
    before, files = stored(home), files_of(home.settings.home)
    made = making.make(home, tmp_path / "a.zip")
    assert made == check_archive(tmp_path / "a.zip")
    assert made.counts == {"projects": 3, "entries": len(before["entries"]), "people": 2}
    assert restore(empty, tmp_path / "a.zip").before is None
    sqlite = settings_of(tmp_path / "sqlite")
    with reopened(empty) as there:
        assert (stored(there), files_of(empty.home)) == (before, files)
        assert heads(there, owner, *wanted) == seals
        assert asked(there, owner, *wanted) == questions
        before = stored(there)
        making.make(there, tmp_path / "b.zip")
        answer_next(there, annotator(there, owner, "Eve"), one)  # under the next free numbers
    restore(sqlite, tmp_path / "b.zip")
    with reopened(sqlite) as there:
        assert (stored(there), files_of(sqlite.home)) == (before, files)
        assert heads(there, owner, *wanted) == seals
        assert asked(there, owner, *wanted) == questions
        answer_next(there, ada, one)


@on_postgres
def test_non_empty_database_is_replaced_only_on_request(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    making.make(home, tmp_path / "a.zip")
    saved = stored(home)
    answer_next(home, owner, project)
    answered = stored(home)
    home.close()
    with pytest.raises(BackupError, match="is not empty"):
        restore(home.settings, tmp_path / "a.zip")
    with reopened(home.settings) as there:
        assert stored(there) == answered
    done = restore(home.settings, tmp_path / "a.zip", replace=True)
    with reopened(home.settings) as there:
        assert stored(there)["entries"] == saved["entries"] == []
    assert done.before is not None
    assert len(rows_of(done.before)["entries"]) == 1, "what was there can be had again"
    assert done.before.stat().st_mode & 0o777 == 0o600


def test_two_restores_within_a_second_keep_both_previous_states(
    home: Home, owner: int, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "datetime", stopped(datetime(2026, 1, 1, tzinfo=UTC)))
    making.make(home, tmp_path / "a.zip")
    answer_next(home, owner, project)
    home.close()
    first = restore(home.settings, tmp_path / "a.zip", replace=True).before
    second = restore(home.settings, tmp_path / "a.zip", replace=True).before
    assert first is not None
    assert second is not None
    assert [len(rows_of(one)["entries"]) for one in (first, second)] == [1, 0]
    assert {one.stat().st_mode & 0o777 for one in (first, second)} == {0o600}


@on_postgres
@pytest.mark.parametrize(("how", "entries"), [pytest.param("before", 1, marks=pytest.mark.proof), ("after", 0)])
def test_unknown_restore_keeps_existing_data(
    home: Home, owner: int, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, entries: int
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0.0)
    making.make(home, tmp_path / "a.zip")
    answer_next(home, owner, project)
    home.close()
    with proxied(home.settings.database_url) as proxy:
        through = replace(home.settings, database_url=proxy.url)
        proxy.cuts, proxy.closed = how, True
        with pytest.raises(BackupError, match=r"it is unknown whether .* The previous content is in .*restore again"):
            restore(through, tmp_path / "a.zip", replace=True)
    (kept,) = (home.settings.home / "backups").glob("before-restore-*.sqlite3")
    assert len(rows_of(kept)["entries"]) == 1
    restored = Database(home.settings.database_url)
    with restored.read() as session:
        assert len(session.execute(text("SELECT 1 FROM entries")).all()) == entries
    restored.close()
    restore(home.settings, tmp_path / "a.zip", replace=True)
    with reopened(home.settings) as there:
        assert stored(there)["entries"] == []


@on_postgres
def test_empty_folder_with_used_database_is_not_new(home: Home, project: int, tmp_path: Path) -> None:
    making.make(home, tmp_path / "a.zip")
    url = {"WINNOW_DATABASE_URL": home.settings.database_url}
    elsewhere = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "new"), **url})
    before = stored(home)
    with pytest.raises(BackupError, match=r"is not empty: postgresql\+psycopg://.* is there"):
        restore(elsewhere, tmp_path / "a.zip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LEAVING", 0.1)
        with pytest.raises(BackupError, match="The database is in use"):
            restore(elsewhere, tmp_path / "a.zip", replace=True)
    assert stored(home) == before
    assert not list((tmp_path / "new" / "backups").iterdir())


@on_postgres
def test_foreign_database_is_never_replaced(home: Home, project: int, empty: Settings, tmp_path: Path) -> None:
    making.make(home, tmp_path / "a.zip")
    other = Database(empty.database_url)
    with other.write() as session:
        session.execute(text("CREATE TABLE mine (x int)"))
    other.close()
    with pytest.raises(BackupError, match="is not empty"):
        restore(empty, tmp_path / "a.zip")
    with pytest.raises(BackupError, match="is not Winnow's"):
        restore(empty, tmp_path / "a.zip", replace=True)


@on_sqlite
def test_unreachable_postgresql_is_reported(home: Home, project: int, tmp_path: Path) -> None:
    making.make(home, tmp_path / "a.zip")
    settings = Settings.from_environment(
        {"WINNOW_HOME": str(tmp_path / "new"), "WINNOW_DATABASE_URL": "postgresql+psycopg:///x?host=/nowhere"}
    )
    with pytest.raises(BackupError, match=r"PostgreSQL does not take it \(.*Nothing was changed"):
        restore(settings, tmp_path / "a.zip")


@pytest.mark.proof
@on_postgres
def test_staged_backup_is_restored_at_next_start(home: Home, owner: int, project: int) -> None:
    home.backups_dir.mkdir()
    path = home.backups_dir / "winnow-20260101-000000.zip"
    making.make(home, path)
    answer_next(home, owner, project)
    staging.stage(home.settings.home, path.name)
    home.close()
    assert "was restored" in str(staging.carry_out(home.settings))
    with reopened(home.settings) as there:
        assert stored(there)["entries"] == []


@on_postgres
def test_migration_makes_copy_first(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    answer_next(home, owner, project)
    entries = stored(home)["entries"]
    home.close()
    (home.settings.home / NOTE).unlink()  # as an earlier version, which wrote none
    with a_step_more(tmp_path):
        open_home(home.settings).close()
        (copy,) = (home.settings.home / "backups").glob("before-*.zip")
        manifest = check_archive(copy)
        assert (manifest.kind, manifest.schema) == (ALONE, OLD)
        restore(home.settings, copy, replace=True)
    database = Database(home.settings.database_url)
    assert database.revision() == OLD
    database.close()
    with reopened(home.settings) as there:
        assert stored(there)["entries"] == entries


def test_sqlite_url_may_be_file_uri(tmp_path: Path) -> None:
    path = lay_database(tmp_path)
    for url in (f"sqlite:///{path}", f"sqlite:///file:{path}?uri=true", f"sqlite:///file:{path}?mode=rw&uri=true"):
        place = place_of(Settings.from_environment({"WINNOW_HOME": str(tmp_path), "WINNOW_DATABASE_URL": url}))
        assert isinstance(place, SqlitePlace)
        assert place.path == path
        assert place.size() == path.stat().st_size
        assert place.called == DATABASE
