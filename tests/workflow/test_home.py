from __future__ import annotations

import hashlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import workflow.home
from db.engine import Database
from plcore import LabelTable, Roles
from tests.workflow.world import small_project
from workflow import projects
from workflow.access import NotAllowed, NotFound, project_for, require_person, role_at_project
from workflow.home import BrokenHomeError, open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings, SettingsError


def settings(folder: Path) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(folder)})


def test_the_process_has_one_home_until_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "a"))
    workflow.home.close_home()
    with ThreadPoolExecutor(8) as pool:
        homes = set(map(id, pool.map(lambda _n: workflow.home.home(), range(8))))
    assert len(homes) == 1
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "b"))
    assert workflow.home.home().settings.home == tmp_path / "a"
    workflow.home.close_home()
    assert workflow.home.home().settings.home == tmp_path / "b"
    workflow.home.close_home()


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SettingsError, match="WINNOW_HOME must be a folder"):
            open_home(settings(home))


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A home with a project, closed."""
    home = open_home(settings(tmp_path))
    small_project(home, team.ensure_owner(home).id)
    home.close()
    return tmp_path


def refused(folder: Path, words: str, **environment: str) -> None:
    """Opening the home is refused in one line that says this and what to do, and changes nothing in it."""
    before = {path: path.stat() for path in folder.rglob("*")}
    with pytest.raises(BrokenHomeError, match=words) as caught:
        open_home(Settings.from_environment({"WINNOW_HOME": str(folder), **environment}))
    assert "Fix: " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SettingsError), "whoever starts Winnow prints it as it stands"
    after = {path: path.stat() for path in folder.rglob("*")}
    assert {path: (one.st_size, one.st_ino) for path, one in before.items()} == {
        path: (one.st_size, one.st_ino) for path, one in after.items()
    }


def test_tables_without_their_database_are_no_first_start(used: Path) -> None:
    (used / "winnow.sqlite3").rename(used / "kept")
    refused(used, "no database at .*winnow.sqlite3, but .* holds 1 table of projects")
    (used / "kept").rename(used / "winnow.sqlite3")
    home = open_home(settings(used))
    assert [one.name for one in projects.list_projects(Seat(home, 1))] == ["small"]
    home.close()


def test_a_database_without_projects_beside_tables_is_no_first_start(used: Path) -> None:
    (used / "winnow.sqlite3").unlink()
    with closing(sqlite3.connect(used / "winnow.sqlite3")) as other:
        other.execute("CREATE TABLE something (x)")
    refused(used, "holds 1 table of projects")


@pytest.mark.parametrize("with_tables", [True, False])
def test_a_database_of_no_bytes_is_no_first_start(
    used: Path, monkeypatch: pytest.MonkeyPatch, with_tables: bool
) -> None:
    monkeypatch.setattr(workflow.home, "MAKING", 0.0)
    if not with_tables:
        for path in (used / "tables").iterdir():
            path.unlink()
    (used / "winnow.sqlite3").write_bytes(b"")
    refused(used, r"winnow.sqlite3 is empty \(0 bytes\)")


def test_a_database_that_another_process_makes_now_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "winnow.sqlite3").touch()
    other = Database(settings(tmp_path).database_url)
    monkeypatch.setattr(workflow.home.time, "sleep", lambda _seconds: other.migrate())
    home = open_home(settings(tmp_path))
    assert not home.database.is_new()
    home.close()
    other.close()


def test_a_database_that_is_none_is_said(used: Path) -> None:
    path = used / "winnow.sqlite3"
    path.write_bytes(b"x" * path.stat().st_size)
    refused(used, "winnow.sqlite3 is damaged, or no database")


@pytest.mark.postgres
def test_an_empty_postgres_beside_tables_is_no_first_start(used: Path, postgres_url: str) -> None:
    refused(used, "no database at postgresql.*holds 1 table", WINNOW_DATABASE_URL=postgres_url)
    (table,) = (used / "tables").iterdir()
    table.rename(used / table.name)
    there = Settings.from_environment({"WINNOW_HOME": str(used), "WINNOW_DATABASE_URL": postgres_url})
    open_home(there).close()
    (used / table.name).rename(table)
    open_home(there).close()  # the database is Winnow's by now


def test_a_table_is_stored_under_its_hash_and_stays_whole(tmp_path: Path) -> None:
    home = open_home(settings(tmp_path))
    cells = pd.DataFrame({"candidates": ["a|b", "b"], "x": ["1.50", "2"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="candidates", numbers=("x",)))
    table_hash = home.store_table(table)
    assert home.store_table(table) == table_hash
    path = home.table_path(table_hash)
    assert list(home.tables_dir.iterdir()) == [path]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == table_hash
    assert LabelTable.read(path).cells.equals(cells)
    home.close()


def test_strangers_and_missing_projects_are_refused(tmp_path: Path) -> None:
    home = open_home(settings(tmp_path))
    with home.database.read() as session:
        with pytest.raises(NotAllowed):
            require_person(session, 1)
        with pytest.raises(NotAllowed):
            role_at_project(session, 1, 1)
        with pytest.raises(NotFound, match="no project 1"):
            project_for(session, 1)
    home.close()
