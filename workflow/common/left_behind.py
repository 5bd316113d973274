"""What processes that were killed have left half-made in the data folder: a whole database, perhaps, with the hashes of
passwords.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import make_url

from db.sqlite_engine import path_in

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.settings import Settings

RESTORING, BRINGING = ".restoring-", ".bringing-"
"""Begin the names of folders in which a backup, or a project from elsewhere, is unpacked."""
RESTORED = ".restored"
"""Ends the name of a database that is about to take the place of another."""
DAY = 24 * 3600.0


def left(settings: Settings) -> list[Path]:
    """Whatever has such a name, of those that are at work, too; beside a database that lies elsewhere its own alone."""
    wanted = (f"{RESTORING}*", f"{BRINGING}*", f".*{RESTORED}")
    found = {path for one in wanted for path in settings.home.glob(one)}
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        database = path_in(url.database)
        beside = database.with_name(f".{database.name}{RESTORED}")
        if beside.exists():
            found.add(beside)
    return sorted(found)


def clear(settings: Settings, older: float = DAY) -> None:
    """Remove what was last changed so many seconds ago. What cannot be removed stays."""
    for path in left(settings):
        with suppress(OSError):  # another process removes it, too
            if path.stat().st_mtime > time.time() - older:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
