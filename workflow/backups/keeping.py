"""Stored backups: the existing ones, when the next is due, and the progress of the current one.

All of this is in files next to them, not in the database, so it survives the loss of the database. The name of a backup
has its time. `state.json` has the requested or running work, `checked.json` the result of the latest check of each
backup.
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
"""Time after which a failed backup is tried again."""
STATE, CHECKED = "state.json", "checked.json"
LATE = 2.0
"""The latest backup is too old after this many times the interval between two backups."""
AHEAD = timedelta(hours=1)
"""Tolerance for a clock that was set back after a backup was made. The time of a backup with a later date is
unknown."""

_NAME = re.compile(r"winnow-(\d{8}-\d{6})\.zip")


@dataclass(frozen=True)
class KeptBackup:
    """A backup in the folder of backups. checked_at : when it was last read completely; None: never here

    fault : its fault at that time, or ''
    """

    path: Path
    made_at: datetime
    size: int
    checked_at: datetime | None
    fault: str

    @property
    def is_good(self) -> bool:
        """Return whether it was read completely and is unchanged."""
        return self.checked_at is not None and not self.fault


@dataclass(frozen=True)
class BackupWork:
    """The backup last requested or due. state : WAITING, RUNNING, DONE or FAILED

    at : time of this state      done, total : bytes      fault : why it failed      person_id : who requested it
    """

    state: str
    at: datetime
    done: int = 0
    total: int = 0
    fault: str = ""
    person_id: int | None = None

    @property
    def unfinished(self) -> bool:
        """Return whether a worker has to make it."""
        return self.state in (WAITING, RUNNING)


def kept(folder: Path) -> tuple[KeptBackup, ...]:
    """Return the backups in a folder that are named by their time, the latest first."""
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
        except (ValueError, FileNotFoundError):  # not a date, or removed by a worker meanwhile
            continue
        found.append(
            KeptBackup(
                path, made_at, size, None if at is None else datetime.fromisoformat(at), str(said.get("fault", ""))
            )
        )
    return tuple(sorted(found, key=lambda one: one.made_at, reverse=True))


def note_checked(folder: Path, path: Path, fault: str = "") -> None:
    """Record that a backup was read completely now, with its fault if any. Raises OSError."""
    checked = {name: said for name, said in _read(folder / CHECKED).items() if (folder / name).exists()}
    checked[path.name] = {"at": datetime.now(UTC).isoformat(), "fault": fault}
    _write(folder / CHECKED, checked)


def work(folder: Path) -> BackupWork | None:
    """Return the latest request for a backup; None if there never was one."""
    said = _read(folder / STATE)
    try:
        return BackupWork(**{**said, "at": datetime.fromisoformat(said["at"])})
    except (KeyError, TypeError, ValueError):
        return None


def note_work(folder: Path, now: BackupWork) -> None:
    """Write the state of the work. Raises OSError."""
    make_folder(folder)
    _write(folder / STATE, asdict(now) | {"at": now.at.isoformat()})


def ask(folder: Path, person_id: int | None) -> None:
    """Request a backup from a worker; does nothing if one is already requested or running. Raises OSError."""
    last = work(folder)
    if last is None or not last.unfinished:
        note_work(folder, BackupWork(WAITING, datetime.now(UTC), person_id=person_id))


def is_due(settings: Settings, now: datetime) -> bool:
    """Return whether the schedule requires a backup now, and none has failed recently. Damaged backups and backups with
    future dates do not count."""
    every, folder = settings.backups.every, settings.backups_dir
    if every is None:
        return False
    last = work(folder)
    if last is not None and last.state == FAILED and timedelta() <= now - last.at < RETRY:
        return False
    made = [one for one in kept(folder) if not one.fault and not _is_to_come(one, now)]
    return not made or (now - made[0].made_at).total_seconds() >= every


def has_due_work(settings: Settings, now: datetime) -> bool:
    """Return whether a worker is needed for a backup."""
    last = work(settings.backups_dir)
    return (last is not None and last.unfinished) or is_due(settings, now)


def why_worried(settings: Settings, now: datetime) -> str | None:
    """Return the problem with the backups, in words for owners; None if they are as the settings require."""
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
        return f"The latest backup is of {made[0].made_at:%Y-%m-%d %H:%M} UTC. Fix: check that Winnow's worker runs."
    return None


def _is_to_come(one: KeptBackup, now: datetime) -> bool:
    return one.made_at > now + AHEAD


def _why_none(home: Path, every: float, now: datetime) -> str | None:
    """Return the problem with a folder without any backup; None for a new Winnow, which has time for the first. The
    time of the first start is that of a file that is written only once."""
    first = home / in_use.NAME
    if not first.exists() or now.timestamp() - first.stat().st_mtime <= LATE * every:
        return None
    return "There is no backup, although automatic backups are on. Fix: check that Winnow's worker runs."


def remove_old(folder: Path, count: int, spared: str | None = None, now: datetime | None = None) -> list[Path]:
    """Remove the backups before the latest `count` good ones; return the removed ones. Raises OSError.

    spared : name of one to keep, because it is to be restored      now : None for the current time
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
    """Return the work at its start. asked : the request; None if it was due by schedule"""
    now = datetime.now(UTC)
    if asked is None or not asked.unfinished:
        return BackupWork(RUNNING, now)
    return replace(asked, state=RUNNING, at=now)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):  # not written yet, or written on a full disk: it can be written again
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, said: dict[str, object]) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(said, indent=1).encode())
