"""A backup that an owner wants to restore: the next start of the server does it, before anyone opens the data
folder."""

from __future__ import annotations

import contextlib
import json
import logging
from datetime import UTC, datetime
from pathlib import Path

from plcore.arrays import sync_folder
from workflow.backups.manifest import BackupError
from workflow.backups.restoring import restore
from workflow.files.stored import whole_file
from workflow.server import running
from workflow.server.running import terminal
from workflow.server.settings import Settings, SettingsError

logger = logging.getLogger("winnow")

WANTED, BEGUN, LAST = "restore-next.json", "restore-begun.json", "restore-last.json"


def stage(home: Path, name: str) -> None:
    """Let the next start restore the backup with this name. Raises OSError."""
    with whole_file(home / WANTED) as file:
        file.write(json.dumps({"file": name}).encode())


def staged(home: Path) -> str | None:
    """Return the name of the backup to be restored, or None."""
    return _said(home / WANTED, "file")


def unstage(home: Path) -> None:
    """Cancel the restore; harmless if none was requested."""
    (home / WANTED).unlink(missing_ok=True)


def last(home: Path) -> str | None:
    """Return the result of the last restore, in words."""
    return _said(home / LAST, "said")


def settings_at_start() -> Settings:
    """Return the settings of a starting server, after a requested restore, whose result is printed at the terminal.
    Call it before the home is opened. Raises SettingsError as `carry_out`, and for wrong settings."""
    settings = Settings.from_environment()
    if said := carry_out(settings):
        terminal.say(said)
    return settings


def carry_out(settings: Settings) -> str | None:
    """Restore the staged backup, if there is one; return the result in words. If it fails, nothing is changed.

    Call it before the home is opened. A restore that was interrupted, because Winnow was killed or the machine went
    off, is reported but not repeated, since people may have answered since.

    Raises SettingsError if another start is restoring: no one may open the home before that has ended.
    """
    home = settings.home
    if not ((home / WANTED).exists() or (home / BEGUN).exists()):  # in this order, since one is renamed to the other
        return None
    try:
        with running.only_restore(home) as ours:
            if not ours:
                raise SettingsError(
                    f"A backup is being restored to {home} by another process. Fix: try again when it has ended."
                )
            return _carry_out(settings, home)
    except OSError as error:
        raise SettingsError(
            f"A backup is to be restored in {home}, and {running.RESTORING} in it cannot be written: {error.strerror}. "
            "Fix: let this user write it; or make room there."
        ) from error


def _carry_out(settings: Settings, home: Path) -> str | None:
    """Do the work of `carry_out`, while no other start is restoring."""
    if (home / BEGUN).exists():
        return _interrupted(home)
    name = staged(home)
    if name is None:
        return None
    try:
        (home / WANTED).replace(home / BEGUN)
        sync_folder(home)
        done = restore(settings, settings.backups_dir / name, replace=True)
        said = f"{name} was restored. The previous database is now {done.before}."
    except BackupError as error:
        said = f"{name} was not restored. {error}"
    except Exception as error:  # an error of Winnow's: the server starts anyway, and does not try again
        logger.exception("%s could not be restored", name)
        said = f"{name} was not restored: {type(error).__name__}: {error}. Fix: see the log."
    return _told(home, said)


def _interrupted(home: Path) -> str | None:
    try:
        running.share(home).close()
    except (
        running.InUseError,
        OSError,
    ):  # a manual restore is using it now; a process that opens the folder is told so
        return None
    return _told(
        home,
        f"Restoring {_said(home / BEGUN, 'file')} was interrupted. All is as it was before, or as in the backup. "
        "Fix: see which, and ask for it again.",
    )


def _told(home: Path, came: str) -> str:
    """Record the end of a restore with its result and time."""
    said = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {came}"
    with contextlib.suppress(OSError):  # the terminal shows it too
        unstage(home)
        (home / BEGUN).unlink(missing_ok=True)
        with whole_file(home / LAST) as file:
            file.write(json.dumps({"said": said}).encode())
    return said


def _said(path: Path, key: str) -> str | None:
    try:
        found = json.loads(path.read_text())[key]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found)
