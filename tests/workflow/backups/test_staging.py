"""A restore that an owner asked for is done by the next start, once; where it cannot be done nothing is changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.backups.drill import files_of, reopened, rows_of
from tests.workflow.world import answer_next
from workflow.backups import making, restoring, staging
from workflow.backups.manifest import DATABASE
from workflow.server import running
from workflow.server.home import Home
from workflow.server.settings import Settings, SettingsError


@pytest.fixture(scope="session")
def backend() -> str:
    """What is looked at here are SQLite's files; PostgreSQL is tried in `test_places.py`."""
    return "sqlite"


@pytest.fixture
def backup(home: Home, project: int) -> str:
    """Its name."""
    home.backups_dir.mkdir()
    name = making.name_at(datetime.now(UTC))
    making.make(home, home.backups_dir / name)
    return name


def state_of(folder: Path) -> object:
    return rows_of(folder / DATABASE), files_of(folder)


def test_the_next_start_puts_it_back_and_the_one_after_does_not(
    home: Home, owner: int, project: int, backup: str
) -> None:
    folder = home.settings.home
    saved = state_of(folder)
    answer_next(home, owner, project)
    staging.stage(folder, backup)
    assert staging.staged(folder) == backup
    home.close()
    said = str(staging.carry_out(home.settings))
    assert (
        f"{backup} was put back. The database that was there is now {folder / 'backups' / 'before-restore-'}"
        in said
    )
    assert staging.last(folder) == said
    assert state_of(folder) == saved
    reopened(folder).close()
    assert staging.carry_out(home.settings) is None


def test_without_one_nothing_happens(home: Home, backup: str) -> None:
    staging.stage(home.settings.home, backup)
    staging.unstage(home.settings.home)
    staging.unstage(home.settings.home)
    assert staging.carry_out(home.settings) is None
    assert staging.last(home.settings.home) is None


@pytest.mark.parametrize("how", ["damaged", "gone", "in use"])
def test_what_cannot_be_done_is_said_and_changes_nothing(
    home: Home, owner: int, project: int, backup: str, how: str
) -> None:
    answer_next(home, owner, project)
    path = home.backups_dir / backup
    if how == "damaged":
        path.write_bytes(path.read_bytes()[:-1])
    if how == "gone":
        path.unlink()
    staging.stage(home.settings.home, backup)
    if how != "in use":
        home.close()
    before = state_of(home.settings.home)
    said = str(staging.carry_out(home.settings))
    assert f"{backup} was not put back." in said
    assert {"damaged": "is damaged at", "gone": "could not be restored", "in use": "is open in"}[how] in said
    assert state_of(home.settings.home) == before
    assert staging.last(home.settings.home) == said


def test_a_note_that_cannot_be_read_is_none(home: Home) -> None:
    for text in ("", "{}", "[]", "3"):
        (home.settings.home / staging.WANTED).write_text(text)
        assert staging.carry_out(home.settings) is None


def test_what_was_begun_and_not_ended_is_said_and_not_repeated(
    home: Home, owner: int, project: int, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Winnow was killed: how far it came nobody knows, and people may have answered since."""
    answer_next(home, owner, project)
    home.close()
    folder = home.settings.home
    answered = state_of(folder)
    staging.stage(folder, backup)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(staging, "restore", killed)
        with pytest.raises(KeyboardInterrupt):
            staging.carry_out(home.settings)
    assert staging.staged(folder) is None
    with monkeypatch.context() as patch:
        patch.setattr(running, "share", in_use_by_another)
        assert staging.carry_out(home.settings) is None, "a restore by hand is about it"
    said = str(staging.carry_out(home.settings))
    assert f"Putting back {backup} was interrupted." in said
    assert "ask for it again" in said
    assert staging.last(folder) == said
    assert state_of(folder) == answered
    assert staging.carry_out(home.settings) is None
    staging.stage(folder, backup)
    assert f"{backup} was put back." in str(staging.carry_out(home.settings))


def in_use_by_another(folder: Path) -> None:
    raise running.InUseError(str(folder))


def test_a_fault_of_winnow_s_is_said_and_not_met_again(
    home: Home, project: int, backup: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home.close()
    staging.stage(home.settings.home, backup)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(staging, "restore", broken)
    said = str(staging.carry_out(home.settings))
    assert f"{backup} was not put back: ZeroDivisionError: a fault." in said
    assert "could not be put back" in caplog.text
    assert staging.last(home.settings.home) == said
    assert staging.carry_out(home.settings) is None


def test_a_start_beside_it_is_refused_until_it_is_done(
    home: Home, owner: int, project: int, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first look at the backup on, when nobody has the folder alone yet."""
    folder, check, tried = home.settings.home, restoring.check_archive, []
    saved = state_of(folder)
    answer_next(home, owner, project)
    home.close()
    staging.stage(folder, backup)

    def beside(*given: Any, **named: Any) -> Any:
        with pytest.raises(SettingsError, match=r"by another start\. Fix: try again when it is done"):
            staging.carry_out(home.settings)
        tried.append((folder / staging.BEGUN).exists())
        return check(*given, **named)

    monkeypatch.setattr(restoring, "check_archive", beside)
    assert f"{backup} was put back." in str(staging.carry_out(home.settings))
    assert tried == [True], "the note is still there for the one that has begun"
    assert state_of(folder) == saved
    assert staging.carry_out(home.settings) is None


def test_a_lock_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    staging.stage(tmp_path, "a.zip")
    (tmp_path / running.RESTORING).mkdir()
    with pytest.raises(SettingsError, match="restore-lock in it cannot be written: Is a directory"):
        staging.carry_out(Settings.from_environment({"WINNOW_HOME": str(tmp_path)}))
    assert staging.staged(tmp_path) == "a.zip"
