"""A backup put in the place of a home: all of it is checked before anything is touched, then it is there at once.

What others have put into the backup's database to act by itself, triggers, views and unique indices, does not come back
with it.

Tables and their files are called by their content, so that those of the backup can lie beside what was there. The
database comes last, at one moment (`places`): before it everything is as it was, after it as in the backup, but that
everybody signs in anew: what has ended since the backup, sign-ins and links, must not let anybody in.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from db.copies import AlienObjectError, DamagedCopyError, drop_aliens, look_into
from db.engine import revisions
from db.restored_copy import end_access
from plcore.loop import EntryKind
from workflow.common import in_use, left_behind
from workflow.common.store import KEPT
from workflow.common.whole_file import flush_all, make_folder
from workflow.outgoing.backups.archive import Tell, check_archive, extract_all
from workflow.outgoing.backups.manifest import ALONE, DATABASE, PROJECT, BackupError, Manifest
from workflow.outgoing.backups.places import DatabasePlace, place_of
from workflow.people.audit import EventKind
from workflow.settings import Settings

logger = logging.getLogger("winnow")

MADE_AGAIN = ("models", "cache", "exports")
"""Folders of what was made of the projects that were there, under the numbers of projects."""


@dataclass(frozen=True)
class Restored:
    """manifest : of the backup      before : where the database lies that was there; None where there was none"""

    manifest: Manifest
    before: Path | None


def restore(settings: Settings, path: Path, *, replace: bool = False, tell: Tell | None = None) -> Restored:
    """Put the backup in the place of the home of these settings.

    replace : what is there may go; its database is kept in the folder `backups`
    Raises BackupError, which says what is wrong and where; nothing was changed then.
    """
    try:
        manifest = check_archive(path, tell)
        _check_kind(path, manifest)
        place = place_of(settings)
        make_folder(settings.home)
        with in_use.alone(settings.home):
            left_behind.clear(settings, older=0.0)  # of a restore that was killed: nobody else is here
            _check_place(settings.home, place, manifest, replace=replace)
            before = _put(settings.home, place, path, manifest)
    except in_use.InUseError as error:
        raise BackupError(str(error)) from error
    except OSError as error:
        raise BackupError(f"{path} could not be restored to {settings.home}: {error}.") from error
    return Restored(manifest, before)


def _check_kind(path: Path, manifest: Manifest) -> None:
    if manifest.kind == PROJECT:
        raise BackupError(
            f"{path.name} is one project, no whole Winnow. Fix: bring it in to a Winnow (winnow bring-in {path})."
        )
    if manifest.schema not in revisions():
        raise BackupError(
            f"{path.name} was made by Winnow {manifest.winnow}, whose tables (revision {manifest.schema}) this one "
            f"({revisions()[0]}) does not know. Fix: restore it with that version, or a newer one."
        )


def _check_place(home: Path, place: DatabasePlace, manifest: Manifest, *, replace: bool) -> None:
    size = place.size()
    if manifest.kind == ALONE and size is None:
        raise BackupError(
            f"It is the database alone, from before its tables were changed: it belongs to the data folder in which it "
            f"was made, and {home} has no database. Fix: restore it there, with --replace."
        )
    there = sorted({one.name for one in home.iterdir()} - {in_use.NAME, in_use.RESTORING, KEPT})
    if size is not None:
        there.append(place.called)
    if there and not replace:
        raise BackupError(
            f"The data folder {home} is not empty: {there[0]} is there. Nothing was changed. Fix: restore to another "
            "folder (--to FOLDER), or say --replace; its database is kept in the folder 'backups' then."
        )
    if size is not None:
        place.check()
    free, needed = shutil.disk_usage(home).free, manifest.size + (size or 0)
    if free < needed:
        raise BackupError(
            f"The disk of {home} has {free:,} bytes free. The backup needs {manifest.size:,}, and the copy of the "
            f"database that is there {size or 0:,}. Nothing was changed. Fix: make room, or restore to a folder on "
            "another disk."
        )


def _put(home: Path, place: DatabasePlace, path: Path, manifest: Manifest) -> Path | None:
    with tempfile.TemporaryDirectory(dir=home, prefix=left_behind.RESTORING) as folder:
        aside = Path(folder)
        extract_all(path, manifest, aside)
        try:
            dropped = drop_aliens(aside / DATABASE)
            facts = look_into(aside / DATABASE, EntryKind.ROWS)
        except (DamagedCopyError, AlienObjectError) as error:
            raise BackupError(
                f"The database in {path.name} is none that works: {error}. Nothing was changed."
            ) from error
        if facts.revision != manifest.schema:
            raise BackupError(
                f"The manifest of {path.name} says revision {manifest.schema}, its database {facts.revision}. Nothing "
                "was changed."
            )
        lost = [one for one in facts.table_hashes if not (home / "tables" / f"{one}.parquet").exists()]
        if manifest.kind == ALONE and lost:
            raise BackupError(
                f"It is the database alone, and {home} has not the tables that it names: {lost[0]} is missing. "
                "Nothing was changed. Fix: restore it where it was made."
            )
        try:
            end_access(aside / DATABASE, datetime.now(UTC), EventKind.BACKUP_RESTORED.value, path.name)
        except sqlite3.Error as error:
            raise BackupError(
                f"The database in {path.name} is none that works: {error}. Nothing was changed."
            ) from error
        for one in manifest.members:
            if one.name != DATABASE:
                _move(aside / one.name, home / one.name, keep=one.name in manifest.damaged)
        (home / "tables").mkdir(mode=0o700, exist_ok=True)
        for name in MADE_AGAIN:
            shutil.rmtree(home / name, ignore_errors=True)
        before = place.put(home, aside / DATABASE)
        flush_all()
        for alien in dropped:
            logger.warning("%s in %s is not Winnow's, and was left out", alien, path.name)
    return before


def _move(new: Path, target: Path, *, keep: bool) -> None:
    """keep : the new one is damaged; whatever is there already may be better"""
    if keep and target.exists():
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new.replace(target)
