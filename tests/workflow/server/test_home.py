from __future__ import annotations

import errno
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import workflow.server.home
from plcore import LabelTable, Roles
from workflow.access import NotAllowed, NotFound, at_project, project_for, require_person
from workflow.server.home import open_home
from workflow.server.settings import Settings, SettingsError


def settings(folder: Path) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(folder)})


def test_the_process_has_one_home_until_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "a"))
    workflow.server.home.close_home()
    with ThreadPoolExecutor(8) as pool:
        homes = set(map(id, pool.map(lambda _n: workflow.server.home.home(), range(8))))
    assert len(homes) == 1
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "b"))
    assert workflow.server.home.home().settings.home == tmp_path / "a"
    workflow.server.home.close_home()
    assert workflow.server.home.home().settings.home == tmp_path / "b"
    workflow.server.home.close_home()


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SettingsError, match="WINNOW_HOME must be a folder"):
            open_home(settings(home))


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
            at_project(session, 1, 1)
        with pytest.raises(NotFound, match="no project 1"):
            project_for(session, 1)
    home.close()


def test_what_others_could_read_is_closed_to_them_at_the_start(tmp_path: Path) -> None:
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path)})
    tmp_path.chmod(0o755)
    open_home(settings).close()
    database = tmp_path / "winnow.sqlite3"
    assert (tmp_path.stat().st_mode & 0o777, database.stat().st_mode & 0o777) == (0o700, 0o600)
    database.chmod(0o644)
    open_home(settings).close()
    assert database.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_no_lost_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = open_home(settings(tmp_path))
    try:
        frame = pd.DataFrame({"c": ["a|b", "b"], "w": ["1", "2"]})
        digest = home.store_table(LabelTable.from_frame(frame, Roles(candidates="c", numbers=("w",))))
        monkeypatch.setattr("plcore.tables.storing.IN_MEMORY", 0)
        assert home.read_table(digest).n_rows == 2

        def full(_folder: Path) -> None:
            raise OSError(errno.ENOSPC, "no space left on device")

        monkeypatch.setattr("plcore.tables.storing.nameless_file", full)
        with pytest.raises(workflow.server.home.NoRoomError, match="no room left on the disk"):
            home.read_table(digest)
        home.table_path(digest).unlink()
        with pytest.raises(workflow.server.home.LostTableError):
            home.read_table(digest)
    finally:
        home.close()
