"""Backups for the owners of this Winnow: list them, make one, download one, restore one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workflow.access import NotFound, Right
from workflow.backups import keeping, staging
from workflow.backups.keeping import BackupWork, KeptBackup
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.saving import saving_files
from workflow.seat import Seat

PATH = "/backup-files"
"""Path at which the server offers them."""


@dataclass(frozen=True)
class BackupsView:
    """All about backups. kept : the latest first      work : the backup last requested or due      every : seconds,
    None: no schedule

    worried : the problem with them, in words      staged : the one that the next start restores
    restored : the result of the last restore
    """

    folder: Path
    kept: tuple[KeptBackup, ...]
    work: BackupWork | None
    every: float | None
    count: int
    worried: str | None
    staged: str | None
    restored: str | None


def overview(seat: Seat) -> BackupsView:
    """Return all about backups. Raises NotAllowed unless the person is an owner of this Winnow."""
    _check(seat)
    settings, home = seat.home.settings, seat.home
    return BackupsView(
        folder=home.backups_dir,
        kept=keeping.kept(home.backups_dir),
        work=keeping.work(home.backups_dir),
        every=settings.backups.every,
        count=settings.backups.kept,
        worried=keeping.why_worried(settings, datetime.now(UTC)),
        staged=staging.staged(settings.home),
        restored=staging.last(settings.home),
    )


def back_up_now(seat: Seat) -> None:
    """Request a backup from a worker. Raises NotAllowed unless the person is an owner of this Winnow, NotSaved."""
    _check(seat)
    with saving_files():
        keeping.ask(seat.home.backups_dir, seat.person_id)


def find_backup(seat: Seat, name: str) -> Path:
    """Return the path of the backup with this name; its download is recorded.

    Raises NotAllowed unless the person is an owner of this Winnow, NotFound, NotSaved.
    """
    _check(seat)
    path = _find(seat, name)
    with seat.everywhere.owning() as owning:
        audit.note(owning.session, EventKind.BACKUP_TAKEN, person_id=seat.person_id, file=name)
    return path


def stage_restore(seat: Seat, name: str) -> None:
    """Let the next start of the server restore this backup.

    Raises NotAllowed unless the person is an owner of this Winnow, NotFound, NotSaved.
    """
    _check(seat)
    _find(seat, name)
    with seat.everywhere.owning() as owning:  # first: an event that cannot be recorded must not happen
        audit.note(owning.session, EventKind.RESTORE_STAGED, person_id=seat.person_id, file=name)
    with saving_files():
        staging.stage(seat.home.settings.home, name)


def unstage_restore(seat: Seat) -> None:
    """Cancel the restore at the next start. Raises NotAllowed unless the person is an owner of this Winnow."""
    _check(seat)
    with saving_files():
        staging.unstage(seat.home.settings.home)


def _check(seat: Seat) -> None:
    with seat.everywhere.reading(Right.OWN):
        pass


def _find(seat: Seat, name: str) -> Path:
    """Return the path of a listed backup; other names are refused, so that no name leads elsewhere."""
    for one in keeping.kept(seat.home.backups_dir):
        if one.path.name == name:
            return one.path
    raise NotFound("There is no such backup here.")
