"""Backups that are kept: which there are, when the next is due, how far the one is that is being made.

All of it is reported by files next to them, not by the database: a database that is lost takes nothing of it along.
The name
of a backup says when it was made. `state.json` has the work that was asked for or is under way, `checked.json` what
came of reading each of them last.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from workflow.files.stored import make_folder, whole_file
from workflow.server import running as in_use
from workflow.server.settings import Settings

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
RETRY = timedelta(hours=1)
"""After which a backup that failed is tried again by itself."""
STATE, CHECKED = "state.json", "checked.json"
LATE = 2.0
"""The latest backup is too old after this many times the interval between two backups."""
AHEAD = timedelta(hours=1)
"""By which a clock may have been put back since a backup was made. One dated later says nothing of when it was made."""

_NAME = re.compile(r"winnow-(\d{8}-\d{6})\.zip")


@dataclass(frozen=True)
class KeptBackup:
    """A backup in the folder of backups. checked_at : when all of it was read last; None: never here

    fault : what was wrong with it then, '' if nothing was
    """

    path: Path
    made_at: datetime
    size: int
    checked_at: datetime | None
    fault: str

    @property
    def is_good(self) -> bool:
        """Whether all of it was read, and was as it was written."""
        return self.checked_at is not None and not self.fault


@dataclass(frozen=True)
class BackupWork:
    """The backup that was asked for last, or was due. state : WAITING, RUNNING, DONE or FAILED

    at : when it came to this state      done, total : bytes      fault : why there is none      person_id : who asked
    """

    state: str
    at: datetime
    done: int = 0
    total: int = 0
    fault: str = ""
    person_id: int | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a worker has to make it."""
        return self.state in (WAITING, RUNNING)


def kept(folder: Path) -> tuple[KeptBackup, ...]:
    """The backups in a folder that are called by their time, the latest first."""
    checked = _read(folder / CHECKED)
    found = []
    for path in folder.glob("winnow-*.zip"):
        named = _NAME.fullmatch(path.name)
        if named is None:
            continue
        said = checked.get(path.name, {})
        at = said.get("at")
        try:
            made_at = datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
            size = path.stat().st_size
        except (ValueError, FileNotFoundError):  # no date at all, or a worker has removed it since
            continue
        found.append(
            KeptBackup(
                path,
                made_at,
                size,
                None if at is None else datetime.fromisoformat(at),
                str(said.get("fault", "")),
            )
        )
    return tuple(sorted(found, key=lambda one: one.made_at, reverse=True))


def note_checked(folder: Path, path: Path, fault: str = "") -> None:
    """Note that all of a backup was read now, and what was wrong with it. Raises OSError."""
    checked = {name: said for name, said in _read(folder / CHECKED).items() if (folder / name).exists()}
    checked[path.name] = {"at": datetime.now(UTC).isoformat(), "fault": fault}
    _write(folder / CHECKED, checked)


def work(folder: Path) -> BackupWork | None:
    """The last request for a backup; None if there never was one."""
    said = _read(folder / STATE)
    try:
        return BackupWork(**{**said, "at": datetime.fromisoformat(said["at"])})
    except (KeyError, TypeError, ValueError):
        return None


def note_work(folder: Path, now: BackupWork) -> None:
    """Write how it stands. Raises OSError."""
    make_folder(folder)
    _write(folder / STATE, asdict(now) | {"at": now.at.isoformat()})


def ask(folder: Path, person_id: int | None) -> None:
    """Have a worker make a backup; where one is asked for or under way already, nothing changes. Raises OSError."""
    last = work(folder)
    if last is None or not last.unfinished:
        note_work(folder, BackupWork(WAITING, datetime.now(UTC), person_id=person_id))


def is_due(settings: Settings, now: datetime) -> bool:
    """Whether the schedule wants a backup now, and none has failed a little before. What is damaged, or dated in times
    to come, is no reason to wait."""
    every, folder = settings.backups.every, settings.backups_dir
    if every is None:
        return False
    last = work(folder)
    if last is not None and last.state == FAILED and timedelta() <= now - last.at < RETRY:
        return False
    made = [one for one in kept(folder) if not one.fault and not _is_to_come(one, now)]
    return not made or (now - made[0].made_at).total_seconds() >= every


def anything_to_do(settings: Settings, now: datetime) -> bool:
    """Whether a worker is needed for a backup."""
    last = work(settings.backups_dir)
    return (last is not None and last.unfinished) or is_due(settings, now)


def why_worried(settings: Settings, now: datetime) -> str | None:
    """The problem with the backups, in words for owners; None if all is as the settings want it."""
    folder = settings.backups_dir
    last, made = work(folder), kept(folder)
    if last is not None and last.state == FAILED:
        return f"The last backup failed, {last.at:%Y-%m-%d %H:%M} UTC: {last.fault}"
    bad = [one for one in made if one.fault]
    if bad:
        return bad[0].fault
    to_come = [one for one in made if _is_to_come(one, now)]
    if to_come:
        return (
            f"The backup {to_come[0].path.name} is dated {to_come[0].made_at:%Y-%m-%d %H:%M} UTC, which is to come. "
            "Fix: see whether the machine's clock is right; if it is, move that file out of the folder of backups."
        )
    every = settings.backups.every
    if every is None:
        return None
    if not made:
        return _why_none(settings.home, every, now)
    if (now - made[0].made_at).total_seconds() > LATE * every:
        return f"The latest backup is of {made[0].made_at:%Y-%m-%d %H:%M} UTC. Fix: see whether Winnow's worker runs."
    return None


def _is_to_come(one: KeptBackup, now: datetime) -> bool:
    return one.made_at > now + AHEAD


def _why_none(home: Path, every: float, now: datetime) -> str | None:
    """Say what is wrong with a folder without any backup; None for a new Winnow, which has time for the first. The
    time of its first start is that of a file that is written only once."""
    first = home / in_use.NAME
    if not first.exists() or now.timestamp() - first.stat().st_mtime <= LATE * every:
        return None
    return (
        "There is no backup, though they are to be made by themselves. Fix: see whether Winnow's worker runs."
    )


def remove_old(
    folder: Path, count: int, spared: str | None = None, now: datetime | None = None
) -> list[Path]:
    """Remove the backups before the latest `count` good ones; what was removed. Raises OSError.

    spared : name of one that stays, because it is to be put back      now : None for the present
    """
    made, now = kept(folder), now or datetime.now(UTC)
    good = [one for one in made if one.is_good and not _is_to_come(one, now)]
    if len(good) < count:
        return []
    last = good[count - 1].made_at
    gone = [one.path for one in made if one.made_at < last and one.path.name != spared]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def running(asked: BackupWork | None) -> BackupWork:
    """The work as it begins. asked : what was requested; None if it was due by itself"""
    now = datetime.now(UTC)
    if asked is None or not asked.unfinished:
        return BackupWork(RUNNING, now)
    return replace(asked, state=RUNNING, at=now)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (
        OSError,
        ValueError,
    ):  # no one has written it yet, or a disk was full: what it says can be told again
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, said: dict[str, object]) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(said, indent=1).encode())
