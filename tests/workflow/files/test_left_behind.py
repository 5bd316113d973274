"""What a killed process has left in the data folder goes; what others are at does not."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.workflow.backups.drill import reopened, settings_of
from tests.workflow.files.test_files import upload
from tests.workflow.world import opened, small_table
from workflow.files import stored
from workflow.kinds.one_label.build import keep_graph
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

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
    lay(tmp_path, stored.DAY + 60)
    (tmp_path / "of somebody else").mkdir()
    reopened(tmp_path).close()
    assert not names(tmp_path) & set(NAMES)
    assert "of somebody else" in names(tmp_path)


def test_a_start_leaves_what_others_may_be_at(tmp_path: Path) -> None:
    lay(tmp_path, 60)
    reopened(tmp_path).close()
    assert names(tmp_path) >= set(NAMES)
    stored.clear(settings_of(tmp_path), older=0.0)
    assert not names(tmp_path) & set(NAMES)


def test_what_was_half_written_in_its_folders_goes_and_all_else_stays(tmp_path: Path) -> None:
    """Of tables, images, neighbours, rescued databases, and copies before a migration: each may have gigabytes."""
    settings = settings_of(tmp_path)
    gone = [
        *(".doctor-abcdefgh", ".winnow.sqlite3.rescued-7-9.123", "tables/.new-abc_d.part"),
        *("media/.new-abcdefgh", "graphs/.new-abcdefgh", "backups/.backup-abcdefgh"),
        *(
            "backups/.before-0019-20260101-000000-7.zip-12345678.part",
            "backups/.winnow-2026.zip-12345678.part",
        ),
    ]
    stay = [
        *(".other", "winnow.sqlite3.rescued-7-9", "tables/a.parquet", "media/ab/a.png", "graphs/a.npz"),
        *("backups/.part", "backups/.of-another.part", "backups/before-0019-20260101-000000-7.zip"),
    ]
    for name in (*gone, *stay):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
    (tmp_path / "media/.new-young123").mkdir()
    stored.clear(settings)
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert there == set(stay)
    assert (tmp_path / "media/.new-young123").exists()


class Killed(BaseException):
    """The process ends here."""


def killed(*_: object) -> None:
    raise Killed


def there_is_no_time(*_: object, **__: object) -> None:
    """To remove what was begun."""


@pytest.mark.parametrize("what", ["tables", "media", "graphs"])
def test_what_is_begun_is_called_as_what_is_removed(
    what: str, home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill at the moment at which it gets its name."""
    (home.settings.home / what).mkdir(exist_ok=True)
    with opened(home, owner, project) as learner:
        table = upload() if what == "media" else small_table(70)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        patch.setattr(Path, "unlink", there_is_no_time)
        patch.setattr(shutil, "rmtree", there_is_no_time)
        with pytest.raises(Killed):
            keep_graph(home, "0" * 64, learner) if what == "graphs" else home.store_table(table)
    (left,) = stored.left(home.settings)
    assert left.parent == home.settings.home / what
    stored.clear(home.settings, older=-60)
    assert not left.exists()


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
