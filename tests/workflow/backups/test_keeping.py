"""Which backups there are, when the next is due, and which of them go."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workflow.backups.drill import settings_of
from tests.workflow.world import full_disk
from workflow.backups import keeping, making
from workflow.backups.keeping import BackupWork
from workflow.server import running
from workflow.server.settings import BackupSettings, Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def lay(folder: Path, *moments: datetime, good: bool = True) -> list[Path]:
    """Files by the names of backups made then."""
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


def test_it_lists_those_that_are_called_by_their_time_the_latest_first(daily: Settings) -> None:
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


def test_one_is_due_when_the_latest_is_old_enough(daily: Settings) -> None:
    assert keeping.is_due(daily, NOW)
    lay(daily.backups_dir, NOW - DAY + timedelta(seconds=1))
    assert not keeping.is_due(daily, NOW)
    assert keeping.is_due(daily, NOW + timedelta(seconds=1))
    assert not keeping.is_due(replace(daily, backups=BackupSettings()), NOW + 9 * DAY), "nobody wants any"


def test_what_failed_is_tried_again_after_an_hour_and_said_until_then(daily: Settings) -> None:
    failed = BackupWork(keeping.FAILED, NOW, fault="The disk is full.")
    keeping.note_work(daily.backups_dir, failed)
    assert keeping.work(daily.backups_dir) == failed
    assert not keeping.anything_to_do(daily, NOW + timedelta(minutes=59))
    assert keeping.anything_to_do(daily, NOW + timedelta(minutes=60))
    assert "12:00 UTC: The disk is full." in str(keeping.why_worried(daily, NOW))


def test_what_is_asked_for_twice_is_done_once(daily: Settings) -> None:
    folder = daily.backups_dir
    keeping.ask(folder, 1)
    first = keeping.work(folder)
    assert first is not None
    assert (first.state, first.person_id) == (keeping.WAITING, 1)
    keeping.ask(folder, 2)
    assert keeping.work(folder) == first
    keeping.note_work(folder, keeping.running(first))
    keeping.ask(folder, 2)
    begun = keeping.work(folder)
    assert begun is not None
    assert (begun.state, begun.person_id) == (keeping.RUNNING, 1)
    keeping.note_work(folder, replace(begun, state=keeping.DONE))
    assert not keeping.anything_to_do(replace(daily, backups=BackupSettings()), NOW)
    keeping.ask(folder, 2)
    assert keeping.anything_to_do(replace(daily, backups=BackupSettings()), NOW)


def test_what_is_damaged_or_late_is_said(daily: Settings) -> None:
    assert keeping.why_worried(daily, NOW) is None, "the first is being made"
    lay(daily.backups_dir, NOW - 2 * DAY)
    assert keeping.why_worried(daily, NOW) is None
    assert "The latest backup is of 2026-02-27" in str(keeping.why_worried(daily, NOW + timedelta(seconds=1)))
    (bad,) = lay(daily.backups_dir, NOW, good=False)
    assert keeping.why_worried(daily, NOW) == f"{bad.name} is damaged."
    bad.unlink()
    lay(daily.backups_dir, NOW)
    assert keeping.why_worried(daily, NOW) is None


def test_none_at_all_is_said_of_a_winnow_that_is_not_new(daily: Settings) -> None:
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
def test_as_many_good_ones_stay_as_were_wanted(
    tmp_path_factory: pytest.TempPathFactory, good: list[bool], count: int
) -> None:
    """However many damaged ones lie between them; nothing goes while there are too few."""
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


def test_the_one_that_is_to_be_put_back_stays(tmp_path: Path) -> None:
    made = [lay(tmp_path, NOW + number * DAY)[0] for number in range(4)]
    assert keeping.remove_old(tmp_path, 2, made[0].name, now=NOW + 3 * DAY) == [made[1]]
    assert made[0].exists()


def test_one_that_is_dated_in_times_to_come_keeps_no_other_from_being_made(daily: Settings) -> None:
    """The clock was wrong once."""
    folder = daily.backups_dir
    (ahead,) = lay(folder, NOW + 900 * DAY)
    assert keeping.is_due(daily, NOW)
    assert f"{ahead.name} is dated 2028-08-17 12:00 UTC" in str(keeping.why_worried(daily, NOW))
    lay(folder, NOW)
    assert not keeping.is_due(daily, NOW)
    assert keeping.is_due(daily, NOW + DAY)
    assert ahead.name in str(keeping.why_worried(daily, NOW)), "until somebody has looked"
    ahead.unlink()
    lay(folder, NOW + timedelta(minutes=59))
    assert keeping.why_worried(daily, NOW) is None, "the clock was put back by a little"
    assert not keeping.is_due(daily, NOW + timedelta(hours=24))


def test_one_that_is_dated_in_times_to_come_is_no_reason_to_remove_another(tmp_path: Path) -> None:
    (ahead,) = lay(tmp_path, NOW + 900 * DAY)
    made = [lay(tmp_path, NOW + number * DAY)[0] for number in range(3)]
    assert keeping.remove_old(tmp_path, 2, now=NOW + 2 * DAY) == [made[0]]
    assert [one.path for one in keeping.kept(tmp_path)] == [ahead, made[2], made[1]]


def test_one_that_is_damaged_is_none(daily: Settings) -> None:
    lay(daily.backups_dir, NOW, good=False)
    assert keeping.is_due(daily, NOW)
    lay(daily.backups_dir, NOW - DAY / 2)
    assert not keeping.is_due(daily, NOW)


def test_a_failure_in_times_to_come_does_not_keep_it_from_being_tried(daily: Settings) -> None:
    keeping.note_work(daily.backups_dir, BackupWork(keeping.FAILED, NOW + 900 * DAY, fault="full"))
    assert keeping.is_due(daily, NOW)


def test_a_name_that_holds_no_date_is_nobody_s_backup(daily: Settings) -> None:
    daily.backups_dir.mkdir(parents=True, exist_ok=True)
    (daily.backups_dir / "winnow-99999999-999999.zip").write_bytes(b"")
    assert keeping.kept(daily.backups_dir) == ()


def test_notes_that_cannot_be_read_say_nothing(daily: Settings) -> None:
    lay(daily.backups_dir, NOW)
    for text in ("", "[]", "{", '{"state": 3}'):
        (daily.backups_dir / keeping.STATE).write_text(text)
        (daily.backups_dir / keeping.CHECKED).write_text(text)
        assert keeping.work(daily.backups_dir) is None
        assert [one.is_good for one in keeping.kept(daily.backups_dir)] == [False]


def test_notes_are_whole_on_a_full_disk(daily: Settings) -> None:
    keeping.ask(daily.backups_dir, 1)
    before = keeping.work(daily.backups_dir)
    assert before is not None
    with full_disk(), pytest.raises(OSError, match="File too large"):
        keeping.note_work(daily.backups_dir, replace(before, state=keeping.DONE))
    assert keeping.work(daily.backups_dir) == before
