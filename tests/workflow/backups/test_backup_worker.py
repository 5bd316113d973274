"""A worker makes the backups that are asked for or due, one at a time, and reads all of them again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from db.engine import DatabaseBusyError
from tests.clocks import stopped
from tests.workflow.backups.test_keeping import lay
from tests.workflow.world import full_disk
from workflow.backups import keeping, making
from workflow.backups import worker as backup_worker
from workflow.backups.archive import check_archive
from workflow.backups.manifest import BackupError
from workflow.backups.worker import BackupWorker, anything_to_do
from workflow.models.training import Stopped, Worker
from workflow.server import running
from workflow.server.home import Home
from workflow.server.settings import BackupSettings


@pytest.fixture
def daily(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(backup_worker, "TOLD_EVERY", 0.0)
    return replace(home, settings=replace(home.settings, backups=BackupSettings(every=24 * 3600.0, kept=2)))


def made_in(home: Home) -> list[Path]:
    return [one.path for one in keeping.kept(home.backups_dir)]


def test_one_that_is_due_is_made_and_the_old_ones_are_read_and_go(daily: Home) -> None:
    now = datetime.now(UTC)
    old = lay(daily.backups_dir, *(now - timedelta(days=days) for days in (4, 3)))
    assert anything_to_do(daily)
    worker = BackupWorker(daily, "one")
    worker.look()
    assert not anything_to_do(daily)
    new, *_ = made_in(daily)
    assert check_archive(new).counts["projects"] == 1
    assert made_in(daily) == [new, *reversed(old)], (
        "those two are no backups, so that none of them is one too many"
    )
    assert all("no backup of Winnow's" in one.fault for one in keeping.kept(daily.backups_dir)[1:])
    assert "no backup" in str(keeping.why_worried(daily.settings, now))
    said = keeping.work(daily.backups_dir)
    assert said is not None
    assert said.state == keeping.DONE
    worker.look()
    assert made_in(daily)[0] == new, "once"


def test_the_folder_of_the_first_backup_is_named_on_the_disk_before_it_is_told_of(
    daily: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut takes a folder whose name was not synced, and whatever backups are in it."""
    real, synced = os.fsync, set[int]()

    def fsync(handle: int) -> None:
        real(handle)
        synced.add(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    assert not daily.backups_dir.exists()
    BackupWorker(daily, "one").back_up()
    assert made_in(daily)
    assert {daily.settings.home.stat().st_ino, daily.backups_dir.stat().st_ino} <= synced


def test_as_many_stay_as_the_settings_say(daily: Home) -> None:
    worker = BackupWorker(daily, "one")
    for days in (3, 2, 1):
        worker.back_up()
        (new, *_) = made_in(daily)
        moment = datetime.now(UTC) - timedelta(days=days)
        moved = new.rename(new.with_name(backup_worker.making.name_at(moment)))
        keeping.note_checked(daily.backups_dir, moved)
    worker.back_up()
    assert len(made_in(daily)) == 2
    assert all(one.is_good for one in keeping.kept(daily.backups_dir))


def test_one_that_was_asked_for_is_made_without_a_schedule(home: Home, project: int) -> None:
    assert not anything_to_do(home)
    keeping.ask(home.backups_dir, 1)
    assert anything_to_do(home)
    BackupWorker(home, "one").look()
    assert len(made_in(home)) == 1
    assert not anything_to_do(home)


def test_two_that_are_asked_for_within_a_second_are_two(
    home: Home, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    monkeypatch.setattr(backup_worker, "datetime", stopped(now))
    for count in (1, 2):
        keeping.ask(home.backups_dir, 1)
        BackupWorker(home, "one").look()
        said = keeping.work(home.backups_dir)
        assert said is not None
        assert (said.state, said.fault) == (keeping.DONE, "")
        assert len(made_in(home)) == count
    assert all(one.is_good for one in keeping.kept(home.backups_dir))
    assert keeping.why_worried(home.settings, now) is None


def test_two_workers_make_one(daily: Home) -> None:
    daily.backups_dir.mkdir()
    with running.alone(daily.backups_dir):
        BackupWorker(daily, "two").back_up()
    assert made_in(daily) == []
    BackupWorker(daily, "one").back_up()
    BackupWorker(daily, "two").back_up()
    assert len(made_in(daily)) == 1


def test_what_a_killed_worker_began_is_begun_anew(daily: Home) -> None:
    keeping.note_work(daily.backups_dir, keeping.running(None))
    (daily.backups_dir / ".backup-old").mkdir()
    BackupWorker(replace(daily, settings=replace(daily.settings, backups=BackupSettings())), "one").back_up()
    assert len(made_in(daily)) == 1
    assert (daily.backups_dir / ".backup-old").exists(), "it may be another's who is at it"


def test_how_far_it_is_is_told_and_it_ends_with_the_worker(
    daily: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = BackupWorker(daily, "one")
    seen = []

    def go_on(*_: object) -> None:
        seen.append(keeping.work(daily.backups_dir))
        if len(seen) > 2:
            raise Stopped

    monkeypatch.setattr(worker, "go_on", go_on)
    with pytest.raises(Stopped):
        worker.back_up()
    assert seen[-1] is not None
    assert 0 < seen[-1].done < seen[-1].total
    assert made_in(daily) == []
    assert anything_to_do(daily), "the next worker makes it"


def test_a_failure_is_noted_in_words_and_waits(daily: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.backups.archive._add", fails)
    worker = BackupWorker(daily, "one")
    worker.look()
    said = keeping.work(daily.backups_dir)
    assert said is not None
    assert (said.state, "Fix: make room" in said.fault) == (keeping.FAILED, True)
    assert not anything_to_do(daily)


@pytest.mark.parametrize(
    "fault",
    [DatabaseBusyError("No turn to write within 30 s."), BackupError("x"), OSError("x"), KeyError("x")],
)
def test_a_fault_of_learning_is_none_of_the_backup(
    daily: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    monkeypatch.setattr(Worker, "look", raising(fault))
    BackupWorker(daily, "one").back_up()
    assert [one.is_good for one in keeping.kept(daily.backups_dir)] == [True]
    assert "Nothing could be learnt while a backup was made" in caplog.text


def test_learning_that_is_stopped_stops_the_backup(daily: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "look", raising(Stopped()))
    with pytest.raises(Stopped):
        BackupWorker(daily, "one").back_up()
    assert anything_to_do(daily), "the next worker makes it"


def test_an_odd_fault_is_noted_and_learning_goes_on(
    daily: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks: list[object] = []

    def look(worker: object) -> bool:
        looks.append(worker)
        return True

    monkeypatch.setattr(making, "named_files", raising(KeyError("x")))
    monkeypatch.setattr(Worker, "look", look)
    BackupWorker(daily, "one").look()
    said = keeping.work(daily.backups_dir)
    assert said is not None
    assert (said.state, "KeyError: 'x'" in said.fault) == (keeping.FAILED, True)
    assert "Traceback" in caplog.text
    assert not anything_to_do(daily), "it waits, as after any other failure"
    assert len(looks) == 1


def raising(fault: Exception) -> Callable[..., None]:
    def fails(*_: object) -> None:
        raise fault

    return fails


def test_a_worker_outlives_a_full_disk(daily: Home) -> None:
    worker = BackupWorker(daily, "one")
    daily.backups_dir.mkdir()
    with full_disk():
        worker.back_up()
    assert made_in(daily) == []
    worker.back_up()
    assert len(made_in(daily)) == 1
