"""Before its tables are changed a database is copied; where that cannot be done nothing is changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from db.engine import Database, revisions
from tests.migrated import LATER, a_step_more
from tests.workflow.backups.drill import rows_of, settings_of
from tests.workflow.world import answer_next, small_project
from workflow.backups.archive import check_archive
from workflow.backups.manifest import ALONE, DATABASE, BackupError
from workflow.backups.restoring import restore
from workflow.server.home import Home, open_home
from workflow.server.settings import SettingsError
from workflow.server.store import NOTE, copy_before

OLD = revisions()[0]


@pytest.fixture(scope="session")
def backend() -> str:
    """What is looked at here are SQLite's files; PostgreSQL has its drill in `test_places.py`."""
    return "sqlite"


@pytest.fixture
def older(home: Home, owner: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a Winnow that was used, with tables as the version before this one had them."""
    project = small_project(home, owner)
    answer_next(home, owner, project)
    home.close()
    (home.settings.home / NOTE).unlink()  # as a version might that wrote none
    with a_step_more(tmp_path_factory.mktemp("later")):
        yield home.settings.home


def test_a_start_that_changes_the_tables_leaves_a_copy_of_what_was_there(older: Path) -> None:
    before = rows_of(older / DATABASE)
    open_home(settings_of(older)).close()
    (copy,) = (older / "backups").glob("before-*.zip")
    assert copy.name.startswith(f"before-{LATER}-")
    manifest = check_archive(copy)
    assert (manifest.kind, manifest.schema) == (ALONE, OLD)
    after = rows_of(older / DATABASE)
    assert after != before
    open_home(settings_of(older)).close()
    assert len(list((older / "backups").iterdir())) == 1, "once"
    restore(settings_of(older), copy, replace=True)
    assert rows_of(older / DATABASE) == before


def test_a_new_winnow_and_one_that_is_up_to_date_need_none(tmp_path: Path) -> None:
    for _ in range(2):
        open_home(settings_of(tmp_path)).close()
    assert not (tmp_path / "backups").exists()


def test_without_a_copy_nothing_is_changed(older: Path) -> None:
    before = rows_of(older / DATABASE)
    (older / "backups").write_text("no folder")
    with pytest.raises(
        SettingsError, match=rf"from revision {OLD} to .* no copy could be made before: .*Nothing was"
    ):
        open_home(settings_of(older))
    assert rows_of(older / DATABASE) == before
    (older / "backups").unlink()
    open_home(settings_of(older)).close()


def test_a_full_disk_is_said_as_such(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.backups.archive._add", full)
    database = Database(settings_of(older).database_url)
    try:
        with pytest.raises(BackupError, match="Fix: make room"):
            copy_before(database, older / "backups")
        assert list((older / "backups").iterdir()) == []
    finally:
        database.close()


def test_the_copy_belongs_to_its_folder(older: Path, tmp_path: Path) -> None:
    open_home(settings_of(older)).close()
    (copy,) = (older / "backups").glob("before-*.zip")
    with pytest.raises(BackupError, match="It is the database alone"):
        restore(settings_of(tmp_path / "new"), copy)
    (table,) = (older / "tables").iterdir()
    table.rename(tmp_path / table.name)
    with pytest.raises(BackupError, match=rf"{table.stem} is missing\. Nothing was changed"):
        restore(settings_of(older), copy, replace=True)
    with closing(sqlite3.connect(older / DATABASE)) as there:
        assert there.execute("SELECT version_num FROM alembic_version").fetchone() == (LATER,)


def test_what_others_have_put_in_keeps_no_start_from_coming_but_what_acts_by_itself(older: Path) -> None:
    with closing(sqlite3.connect(older / DATABASE)) as there:
        there.executescript(
            "CREATE INDEX mine ON entries (at); CREATE TABLE _litestream_seq (x); CREATE VIEW evil AS SELECT 1"
        )
        with pytest.raises(
            SettingsError, match=r'view \'evil\' .* Fix: drop it \(DROP VIEW "evil"\)'
        ) as raised:
            open_home(settings_of(older))
        assert "restore" not in str(raised.value)
        there.execute("DROP VIEW evil")
    open_home(settings_of(older)).close()
