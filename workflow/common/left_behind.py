"""What processes that were killed have left half-made in the data folder and in that of backups: a whole database,
perhaps, with the hashes of passwords, or a table of gigabytes.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from glob import escape
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from db.sqlite_engine import path_in
from workflow.common.whole_file import PART

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.settings import Settings

RESTORING, BRINGING, MAKING = ".restoring-", ".bringing-", ".backup-"
"""Begin the names of folders in which a backup, or a project from elsewhere, is unpacked, or a backup is made."""
RESTORED = ".restored"
"""Ends the name of a database that is about to take the place of another."""
NEW = ".new-"
"""Begins the names of tables, images and neighbours before they are whole."""
DAY = 24 * 3600.0
_DRAWN = "?" * 8
"""What the module `tempfile` ends a name with."""


def left(settings: Settings) -> list[Path]:
    """Whatever has such a name in the data folder, of those that are at work, too; beside a database that lies
    elsewhere its own alone."""
    wanted = [f"{RESTORING}*", f"{BRINGING}*", f".*{RESTORED}", f".doctor-{_DRAWN}"]
    wanted += [f"tables/{NEW}*{PART}", f"media/{NEW}{_DRAWN}", f"graphs/{NEW}{_DRAWN}"]
    found = {path for one in wanted for path in settings.home.glob(one)}
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        database = path_in(url.database)
        for ending in (RESTORED, ".rescued-*"):  # what is rescued has another name once it is whole
            found |= set(database.parent.glob(f".{escape(database.name)}{ending}"))
    return sorted(found)


def clear(settings: Settings, older: float = DAY) -> None:
    """Remove what was last changed so many seconds ago; in the folder of backups, which other Winnows may share, a day
    ago. What cannot be removed stays."""
    of_backups = f"{MAKING}{_DRAWN}", f".winnow-*{PART}", f".before-*{PART}"
    backups = [path for one in of_backups for path in settings.backups_dir.glob(one)]
    for paths, age in ((left(settings), older), (backups, DAY)):
        for path in paths:
            with suppress(OSError):  # another process removes it, too
                if path.stat().st_mtime > time.time() - age:
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
