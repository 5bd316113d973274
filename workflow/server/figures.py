"""Metrics of a server for operators: the queue of its workers, backups, disks and database."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from db.postgres import database_size
from workflow.backups import keeping
from workflow.importing import encoding_worker
from workflow.models import comparing, neighbors, random_order, training
from workflow.rows import instance_map
from workflow.server.home import Home
from workflow.server.settings import Settings
from workflow.server.store import files_of


def read_queue(home: Home) -> dict[str, int]:
    """Return {kind of work: number of jobs that are waiting or running}. Raises STORE_FAULTS."""
    now = datetime.now(UTC)
    return {
        "training": len(training.due(home)),
        "comparison": comparing.count_waiting(home),
        "random order": random_order.count_waiting(home),
        "encoding": encoding_worker.count_waiting(home),
        "neighbors": neighbors.count_waiting(home),
        "map": len(instance_map.wishes(home)),
        "backup": int(keeping.has_due_work(home.settings, now)),
    }


def read_size(home: Home) -> int:
    """Return the bytes of the database; on SQLite with its log. Raises STORE_FAULTS."""
    if home.database.path is None:
        with home.database.read(single=True) as session:
            return database_size(session)
    return sum(path.stat().st_size for path in files_of(home.database) if path.exists())


def read_backup_age(settings: Settings) -> float | None:
    """Return the seconds since the latest backup that is not known to be damaged; None if there is none."""
    now = datetime.now(UTC)
    made = [one.made_at for one in keeping.kept(settings.backups_dir) if not one.fault]
    return max(0.0, (now - made[0]).total_seconds()) if made else None


@dataclass(frozen=True)
class Disk:
    """Bytes of a disk: free for the user who runs Winnow, and in total."""

    free: int
    size: int


def read_disks(home: Home) -> dict[str, Disk]:
    """Return the disks of the data folder, of the folder of backups if it exists, and of SQLite's file."""
    path = home.database.path
    folders = {"data": home.settings.home, "backups": home.settings.backups_dir}
    folders |= {} if path is None else {"database": path.parent}
    return {name: _disk(folder) for name, folder in folders.items() if folder.is_dir()}


def _disk(folder: Path) -> Disk:
    found = os.statvfs(folder)
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    return Disk(free * found.f_frsize, found.f_blocks * found.f_frsize)
