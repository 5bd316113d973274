"""What a killed process has left in the data folder goes; what others are at does not."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.workflow.outgoing.backups.drill import reopened, settings_of
from workflow.common import left_behind
from workflow.home import open_home
from workflow.settings import Settings

NAMES = (".restoring-abc", ".bringing-abc", ".winnow.sqlite3.restored")


def lay(home: Path, age: float) -> None:
    for name in NAMES:
        path = home / name
        if name.endswith(".restored"):
            path.write_bytes(b"a database")
        else:
            path.mkdir()
            (path / "winnow.sqlite3").write_bytes(b"a database")
        moment = time.time() - age
        os.utime(path, (moment, moment))


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()}


def test_a_start_removes_what_is_older_than_a_day(tmp_path: Path) -> None:
    lay(tmp_path, left_behind.DAY + 60)
    (tmp_path / "of somebody else").mkdir()
    reopened(tmp_path).close()
    assert not names(tmp_path) & set(NAMES)
    assert "of somebody else" in names(tmp_path)


def test_a_start_leaves_what_others_may_be_at(tmp_path: Path) -> None:
    lay(tmp_path, 60)
    reopened(tmp_path).close()
    assert names(tmp_path) >= set(NAMES)
    left_behind.clear(settings_of(tmp_path), older=0.0)
    assert not names(tmp_path) & set(NAMES)


def test_a_database_that_lies_elsewhere_has_its_own_removed_and_no_more(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ours, other) = (elsewhere / ".a.sqlite3.restored", elsewhere / ".b.sqlite3.restored")
    for path in (ours, other):
        path.write_bytes(b"a database")
        os.utime(path, (0, 0))
    url = f"sqlite:///{elsewhere / 'a.sqlite3'}"
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home"), "WINNOW_DATABASE_URL": url})
    open_home(settings).close()
    assert names(elsewhere) >= {"a.sqlite3", other.name}
    assert not ours.exists()
