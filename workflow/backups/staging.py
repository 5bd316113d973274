"""A backup that an owner wants to have put back: the next start of the server does it, before anyone has the data
folder open."""

from __future__ import annotations

import contextlib
import json
import logging
from datetime import UTC, datetime
from pathlib import Path

from plcore.blocks import sync_folder
from workflow.backups.manifest import BackupError
from workflow.backups.restoring import restore
from workflow.files.stored import whole_file
from workflow.server import running
from workflow.server.running import terminal
from workflow.server.settings import Settings, SettingsError

logger = logging.getLogger("winnow")

WANTED, BEGUN, LAST = "restore-next.json", "restore-begun.json", "restore-last.json"


def stage(home: Path, name: str) -> None:
    """Have the backup of this name put back at the next start. Raises OSError."""
    with whole_file(home / WANTED) as file:
        file.write(json.dumps({"file": name}).encode())


def staged(home: Path) -> str | None:
    """The name of the backup that is to be put back."""
    return _said(home / WANTED, "file")


def unstage(home: Path) -> None:
    """Put none back after all; harmless if none was to be."""
    (home / WANTED).unlink(missing_ok=True)


def last(home: Path) -> str | None:
    """The result of the last time, in words."""
    return _said(home / LAST, "said")


def settings_at_start() -> Settings:
    """The settings of a server that starts, when what is wanted has been put back; what came of that is said at the
    terminal. To be called before the home is opened. Raises SettingsError as `carry_out`, and for wrong settings."""
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
    if not ((home / WANTED).exists() or (home / BEGUN).exists()):  # in this order: the one becomes the other
        return None
    try:
        with running.only_restore(home) as ours:
            if not ours:
                raise SettingsError(
                    f"A backup is being put back in {home} by another start. Fix: try again when it is done."
                )
            return _carry_out(settings, home)
    except OSError as error:
        raise SettingsError(
            f"A backup is to be put back in {home}, and {running.RESTORING} in it cannot be written: {error.strerror}. "
            "Fix: let this user write it; or make room there."
        ) from error


def _carry_out(settings: Settings, home: Path) -> str | None:
    """As `carry_out`, while no other start is restoring."""
    if (home / BEGUN).exists():
        return _interrupted(home)
    name = staged(home)
    if name is None:
        return None
    try:
        (home / WANTED).replace(home / BEGUN)
        sync_folder(home)
        done = restore(settings, settings.backups_dir / name, replace=True)
        said = f"{name} was put back. The database that was there is now {done.before}."
    except BackupError as error:
        said = f"{name} was not put back. {error}"
    except Exception as error:  # a fault of Winnow's: the server starts anyway, and does not try again
        logger.exception("%s could not be put back", name)
        said = f"{name} was not put back: {type(error).__name__}: {error}. Fix: see the log."
    return _told(home, said)


def _interrupted(home: Path) -> str | None:
    try:
        running.share(home).close()
    except (
        running.InUseError,
        OSError,
    ):  # a restore by hand is handling it now; a process that opens the folder is told so
        return None
    return _told(
        home,
        f"Putting back {_said(home / BEGUN, 'file')} was interrupted. All is as it was before, or as in the backup. "
        "Fix: see which, and ask for it again.",
    )


def _told(home: Path, came: str) -> str:
    """Note that it is over, and what came of it; that with the moment."""
    said = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {came}"
    with contextlib.suppress(OSError):  # it is reported at the terminal, too
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
