"""Scheduled backups: the worker that makes them, how many stay, and the owner's page about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import events
from db.engine import DatabaseBusyError
from db.events import EventFilter
from tests.clocks import stopped
from tests.present import present
from tests.workflow.backups.drill import settings_of
from tests.workflow.world import full_disk
from workflow.access import NotFound
from workflow.backups import keeping, making, owners
from workflow.backups import worker as backup_worker
from workflow.backups.archive import check_archive
from workflow.backups.keeping import BackupWork
from workflow.backups.manifest import BackupError
from workflow.backups.worker import BackupWorker, has_due_work
from workflow.models.training import Stopped, Worker
from workflow.people.audit import EventKind
from workflow.seat import Seat
from workflow.server import running
from workflow.server.home import Home
from workflow.server.settings import BackupSettings, Settings

# Which backups there are, when the next is due, and which of them go


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def lay(folder: Path, *moments: datetime, good: bool = True) -> list[Path]:
    """Create files with the names of backups made at these times."""
    folder.mkdir(exist_ok=True)
    made = []
    for moment in moments:
        path = folder / making.name_at(moment)
        path.write_bytes(b"backup")
        keeping.note_checked(folder, path, "" if good else f"{path.name} is damaged.")
        made.append(path)
    return made


@pytest.fixture
def daily(tmp_path: Path) -> Settings:
    return replace(settings_of(tmp_path), backups=BackupSettings(every=DAY.total_seconds(), kept=2))


def test_backups_are_listed_by_time_latest_first(daily: Settings) -> None:
    folder = daily.backups_dir
    old, new = lay(folder, NOW - DAY, NOW)
    (folder / "before-0016-20260101-000000-1.zip").touch()
    (folder / "winnow-mine.zip").touch()
    unread = folder / making.name_at(NOW - 2 * DAY)
    unread.touch()
    found = keeping.kept(folder)
    assert [one.path for one in found] == [new, old, unread]
    assert [one.made_at for one in found] == [NOW, NOW - DAY, NOW - 2 * DAY]
    assert [one.is_good for one in found] == [True, True, False]
    assert keeping.kept(folder / "nowhere") == ()


def test_backup_is_due_when_latest_is_old_enough(daily: Settings) -> None:
    assert keeping.is_due(daily, NOW)
    lay(daily.backups_dir, NOW - DAY + timedelta(seconds=1))
    assert not keeping.is_due(daily, NOW)
    assert keeping.is_due(daily, NOW + timedelta(seconds=1))
    assert not keeping.is_due(replace(daily, backups=BackupSettings()), NOW + 9 * DAY), "no one wants any"


def test_failed_work_is_retried_after_an_hour_and_reported_until_then(daily: Settings) -> None:
    failed = BackupWork(keeping.FAILED, NOW, fault="The disk is full.")
    keeping.note_work(daily.backups_dir, failed)
    assert keeping.work(daily.backups_dir) == failed
    assert not keeping.has_due_work(daily, NOW + timedelta(minutes=59))
    assert keeping.has_due_work(daily, NOW + timedelta(minutes=60))
    assert "12:00 UTC: The disk is full." in str(keeping.why_worried(daily, NOW))


def test_request_twice_is_done_once(daily: Settings) -> None:
    folder = daily.backups_dir
    keeping.ask(folder, 1)
    first = present(keeping.work(folder))
    assert (first.state, first.person_id) == (keeping.WAITING, 1)
    keeping.ask(folder, 2)
    assert keeping.work(folder) == first
    keeping.note_work(folder, keeping.running(first))
    keeping.ask(folder, 2)
    begun = present(keeping.work(folder))
    assert (begun.state, begun.person_id) == (keeping.RUNNING, 1)
    keeping.note_work(folder, replace(begun, state=keeping.DONE))
    assert not keeping.has_due_work(replace(daily, backups=BackupSettings()), NOW)
    keeping.ask(folder, 2)
    assert keeping.has_due_work(replace(daily, backups=BackupSettings()), NOW)


def test_damaged_or_late_backup_is_reported(daily: Settings) -> None:
    assert keeping.why_worried(daily, NOW) is None, "the first is being made"
    lay(daily.backups_dir, NOW - 2 * DAY)
    assert keeping.why_worried(daily, NOW) is None
    assert "The latest backup is of 2026-02-27" in str(keeping.why_worried(daily, NOW + timedelta(seconds=1)))
    (bad,) = lay(daily.backups_dir, NOW, good=False)
    assert keeping.why_worried(daily, NOW) == f"{bad.name} is damaged."
    bad.unlink()
    lay(daily.backups_dir, NOW)
    assert keeping.why_worried(daily, NOW) is None


def test_missing_backup_is_reported_only_after_some_use(daily: Settings) -> None:
    daily.home.mkdir(exist_ok=True)
    opened = daily.home / running.NAME
    opened.touch()
    os.utime(opened, (NOW.timestamp(), NOW.timestamp()))
    assert keeping.why_worried(daily, NOW + 2 * DAY) is None, "the first is being made"
    late = NOW + 2 * DAY + timedelta(seconds=1)
    assert "There is no backup" in str(keeping.why_worried(daily, late))
    lay(daily.backups_dir, late)
    assert keeping.why_worried(daily, late) is None


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 5))
def test_wanted_number_of_good_backups_is_kept(
    tmp_path_factory: pytest.TempPathFactory, good: list[bool], count: int
) -> None:
    """However many damaged ones are between them; none is removed while there are too few."""
    folder = tmp_path_factory.mktemp("kept")
    made = [lay(folder, NOW + number * DAY, good=well)[0] for number, well in enumerate(good)]
    gone = keeping.remove_old(folder, count, now=NOW + 12 * DAY)
    left = [path for path in made if path.exists()]
    assert set(gone) == set(made) - set(left)
    wanted = [path for path, well in zip(made, good, strict=True) if well][-count:]
    assert set(wanted) <= set(left)
    if len(wanted) == count:
        assert left == made[made.index(wanted[0]) :]
    else:
        assert left == made


def test_staged_backup_is_not_removed(tmp_path: Path) -> None:
    made = [lay(tmp_path, NOW + number * DAY)[0] for number in range(4)]
    assert keeping.remove_old(tmp_path, 2, made[0].name, now=NOW + 3 * DAY) == [made[1]]
    assert made[0].exists()


def test_backup_dated_in_future_does_not_block_the_next(daily: Settings) -> None:
    """The clock was wrong at one time."""
    folder = daily.backups_dir
    (ahead,) = lay(folder, NOW + 900 * DAY)
    assert keeping.is_due(daily, NOW)
    assert f"{ahead.name} is dated 2028-08-17 12:00 UTC" in str(keeping.why_worried(daily, NOW))
    lay(folder, NOW)
    assert not keeping.is_due(daily, NOW)
    assert keeping.is_due(daily, NOW + DAY)
    assert ahead.name in str(keeping.why_worried(daily, NOW)), "until someone has looked"
    ahead.unlink()
    lay(folder, NOW + timedelta(minutes=59))
    assert keeping.why_worried(daily, NOW) is None, "the clock was put back by a little"
    assert not keeping.is_due(daily, NOW + timedelta(hours=24))


def test_backup_dated_in_future_does_not_delete_another(tmp_path: Path) -> None:
    (ahead,) = lay(tmp_path, NOW + 900 * DAY)
    made = [lay(tmp_path, NOW + number * DAY)[0] for number in range(3)]
    assert keeping.remove_old(tmp_path, 2, now=NOW + 2 * DAY) == [made[0]]
    assert [one.path for one in keeping.kept(tmp_path)] == [ahead, made[2], made[1]]


def test_damaged_copy_counts_as_missing(daily: Settings) -> None:
    lay(daily.backups_dir, NOW, good=False)
    assert keeping.is_due(daily, NOW)
    lay(daily.backups_dir, NOW - DAY / 2)
    assert not keeping.is_due(daily, NOW)


def test_failure_dated_in_future_does_not_block_retry(daily: Settings) -> None:
    keeping.note_work(daily.backups_dir, BackupWork(keeping.FAILED, NOW + 900 * DAY, fault="full"))
    assert keeping.is_due(daily, NOW)


def test_file_without_date_is_not_a_backup(daily: Settings) -> None:
    daily.backups_dir.mkdir(parents=True, exist_ok=True)
    (daily.backups_dir / "winnow-99999999-999999.zip").write_bytes(b"")
    assert keeping.kept(daily.backups_dir) == ()


def test_unreadable_notes_are_ignored(daily: Settings) -> None:
    lay(daily.backups_dir, NOW)
    for text in ("", "[]", "{", '{"state": 3}'):
        (daily.backups_dir / keeping.STATE).write_text(text)
        (daily.backups_dir / keeping.CHECKED).write_text(text)
        assert keeping.work(daily.backups_dir) is None
        assert [one.is_good for one in keeping.kept(daily.backups_dir)] == [False]


def test_full_disk_keeps_previous_note(daily: Settings) -> None:
    keeping.ask(daily.backups_dir, 1)
    before = present(keeping.work(daily.backups_dir))
    with full_disk(), pytest.raises(OSError, match="File too large"):
        keeping.note_work(daily.backups_dir, replace(before, state=keeping.DONE))
    assert keeping.work(daily.backups_dir) == before


# Backups page for owners; and no one else


def test_owner_requests_backup_and_stages_restore(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    view = owners.overview(seat)
    assert (view.kept, view.work, view.worried, view.staged) == ((), None, None, None)
    owners.back_up_now(seat)
    work = present(owners.overview(seat).work)
    assert (work.state, work.person_id) == (keeping.WAITING, owner)
    BackupWorker(home, "one").back_up()
    (made,) = owners.overview(seat).kept
    assert made.is_good
    assert owners.find_backup(seat, made.path.name) == made.path
    owners.stage_restore(seat, made.path.name)
    assert owners.overview(seat).staged == made.path.name
    owners.unstage_restore(seat)
    assert owners.overview(seat).staged is None
    with home.database.read() as session:
        said = [one.what for one in events.listed(session, EventFilter(person_id=owner))]
    assert said[:2] == [EventKind.RESTORE_STAGED, EventKind.BACKUP_TAKEN]


@pytest.mark.parametrize("name", ["../winnow.sqlite3", "state.json", "winnow-20260101-000000.zip", "", "/etc/passwd"])
def test_only_listed_backups_are_found(home: Home, owner: int, name: str) -> None:
    keeping.ask(home.backups_dir, owner)
    for act in (owners.find_backup, owners.stage_restore):
        with pytest.raises(NotFound, match="There is no such backup here"):
            act(Seat(home, owner), name)
    assert owners.overview(Seat(home, owner)).staged is None


# A worker makes the backups that are asked for or due, one at a time, and reads all of them again


@pytest.fixture
def backup_worker_daily(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(backup_worker, "TOLD_EVERY", 0.0)
    return replace(home, settings=replace(home.settings, backups=BackupSettings(every=24 * 3600.0, kept=2)))


def made_in(home: Home) -> list[Path]:
    return [one.path for one in keeping.kept(home.backups_dir)]


def test_worker_makes_due_backup_and_checks_and_removes_old_ones(backup_worker_daily: Home) -> None:
    now = datetime.now(UTC)
    old = lay(backup_worker_daily.backups_dir, *(now - timedelta(days=days) for days in (4, 3)))
    assert has_due_work(backup_worker_daily)
    worker = BackupWorker(backup_worker_daily, "one")
    worker.look()
    assert not has_due_work(backup_worker_daily)
    new, *_ = made_in(backup_worker_daily)
    assert check_archive(new).counts["projects"] == 1
    assert made_in(backup_worker_daily) == [new, *reversed(old)], (
        "those two are not backups, so that none of them is one too many"
    )
    assert all("not a backup of Winnow" in one.fault for one in keeping.kept(backup_worker_daily.backups_dir)[1:])
    assert "not a backup" in str(keeping.why_worried(backup_worker_daily.settings, now))
    said = present(keeping.work(backup_worker_daily.backups_dir))
    assert said.state == keeping.DONE
    worker.look()
    assert made_in(backup_worker_daily)[0] == new, "once"


def test_folder_of_first_backup_is_synced_before_it_is_reported(
    backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut loses a folder whose name was not synced, with all backups in it."""
    real, synced = os.fsync, set[int]()

    def fsync(handle: int) -> None:
        real(handle)
        synced.add(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    assert not backup_worker_daily.backups_dir.exists()
    BackupWorker(backup_worker_daily, "one").back_up()
    assert made_in(backup_worker_daily)
    assert {backup_worker_daily.settings.home.stat().st_ino, backup_worker_daily.backups_dir.stat().st_ino} <= synced


def test_worker_keeps_number_of_backups_in_settings(backup_worker_daily: Home) -> None:
    worker = BackupWorker(backup_worker_daily, "one")
    for days in (3, 2, 1):
        worker.back_up()
        (new, *_) = made_in(backup_worker_daily)
        moment = datetime.now(UTC) - timedelta(days=days)
        moved = new.rename(new.with_name(backup_worker.making.name_at(moment)))
        keeping.note_checked(backup_worker_daily.backups_dir, moved)
    worker.back_up()
    assert len(made_in(backup_worker_daily)) == 2
    assert all(one.is_good for one in keeping.kept(backup_worker_daily.backups_dir))


def test_requested_backup_is_made_without_schedule(home: Home, project: int) -> None:
    assert not has_due_work(home)
    keeping.ask(home.backups_dir, 1)
    assert has_due_work(home)
    BackupWorker(home, "one").look()
    assert len(made_in(home)) == 1
    assert not has_due_work(home)


def test_two_backups_within_a_second_have_two_names(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    monkeypatch.setattr(backup_worker, "datetime", stopped(now))
    for count in (1, 2):
        keeping.ask(home.backups_dir, 1)
        BackupWorker(home, "one").look()
        said = present(keeping.work(home.backups_dir))
        assert (said.state, said.fault) == (keeping.DONE, "")
        assert len(made_in(home)) == count
    assert all(one.is_good for one in keeping.kept(home.backups_dir))
    assert keeping.why_worried(home.settings, now) is None


def test_two_workers_make_one_backup(backup_worker_daily: Home) -> None:
    backup_worker_daily.backups_dir.mkdir()
    with running.alone(backup_worker_daily.backups_dir):
        BackupWorker(backup_worker_daily, "two").back_up()
    assert made_in(backup_worker_daily) == []
    BackupWorker(backup_worker_daily, "one").back_up()
    BackupWorker(backup_worker_daily, "two").back_up()
    assert len(made_in(backup_worker_daily)) == 1


def test_backup_of_killed_worker_is_made_again(backup_worker_daily: Home) -> None:
    keeping.note_work(backup_worker_daily.backups_dir, keeping.running(None))
    (backup_worker_daily.backups_dir / ".backup-old").mkdir()
    BackupWorker(
        replace(backup_worker_daily, settings=replace(backup_worker_daily.settings, backups=BackupSettings())), "one"
    ).back_up()
    assert len(made_in(backup_worker_daily)) == 1
    assert (backup_worker_daily.backups_dir / ".backup-old").exists(), "it may be another's who is at it"


def test_progress_is_reported_and_ends_with_worker(backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = BackupWorker(backup_worker_daily, "one")
    seen = []

    def go_on(*_: object) -> None:
        seen.append(keeping.work(backup_worker_daily.backups_dir))
        if len(seen) > 2:
            raise Stopped

    monkeypatch.setattr(worker, "go_on", go_on)
    with pytest.raises(Stopped):
        worker.back_up()
    assert seen[-1] is not None
    assert 0 < seen[-1].done < seen[-1].total
    assert made_in(backup_worker_daily) == []
    assert has_due_work(backup_worker_daily), "the next worker makes it"


def test_failed_backup_is_explained_and_waits(backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workflow.backups.archive._add", fails)
    worker = BackupWorker(backup_worker_daily, "one")
    worker.look()
    said = present(keeping.work(backup_worker_daily.backups_dir))
    assert (said.state, "Fix: make room" in said.fault) == (keeping.FAILED, True)
    assert not has_due_work(backup_worker_daily)


@pytest.mark.parametrize(
    "fault", [DatabaseBusyError("No turn to write within 30 s."), BackupError("x"), OSError("x"), KeyError("x")]
)
def test_learning_error_does_not_fail_backup(
    backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    monkeypatch.setattr(Worker, "look", raising(fault))
    BackupWorker(backup_worker_daily, "one").back_up()
    assert [one.is_good for one in keeping.kept(backup_worker_daily.backups_dir)] == [True]
    assert "Training paused while a backup was made" in caplog.text


def test_stopping_worker_stops_backup(backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "look", raising(Stopped()))
    with pytest.raises(Stopped):
        BackupWorker(backup_worker_daily, "one").back_up()
    assert has_due_work(backup_worker_daily), "the next worker makes it"


def test_unexpected_backup_error_does_not_stop_training(
    backup_worker_daily: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks: list[object] = []

    def look(worker: object) -> bool:
        looks.append(worker)
        return True

    monkeypatch.setattr(making, "named_files", raising(KeyError("x")))
    monkeypatch.setattr(Worker, "look", look)
    BackupWorker(backup_worker_daily, "one").look()
    said = present(keeping.work(backup_worker_daily.backups_dir))
    assert (said.state, "KeyError: 'x'" in said.fault) == (keeping.FAILED, True)
    assert "Traceback" in caplog.text
    assert not has_due_work(backup_worker_daily), "it waits, as after any other failure"
    assert len(looks) == 1


def raising(fault: Exception) -> Callable[..., None]:
    def fails(*_: object) -> None:
        raise fault

    return fails


def test_worker_outlives_full_disk(backup_worker_daily: Home) -> None:
    worker = BackupWorker(backup_worker_daily, "one")
    backup_worker_daily.backups_dir.mkdir()
    with full_disk():
        worker.back_up()
    assert made_in(backup_worker_daily) == []
    worker.back_up()
    assert len(made_in(backup_worker_daily)) == 1
