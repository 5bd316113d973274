"""A copy of the database before its tables are changed: a migration without one does not run.

Tables and files are not in it, for a migration does not touch them: the copy is put back where they are.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db.engine import revisions
from workflow.common.whole_file import make_folder
from workflow.outgoing.backups import making
from workflow.outgoing.backups.manifest import BackupError

if TYPE_CHECKING:
    from pathlib import Path

    from db.engine import Database


def copy_before(database: Database, folder: Path) -> Path | None:
    """Where the database needs a migration, write a copy of it into the folder; its path, None where none is needed.

    Raises BackupError.
    """
    found, newest = database.revision(), revisions()[0]
    if found not in revisions()[1:]:  # a new one, one that is up to date, or one of a newer Winnow
        return None
    moment = datetime.now(UTC)
    path = folder / f"before-{newest}-{moment:%Y%m%d-%H%M%S}-{os.getpid()}.zip"
    try:
        make_folder(folder)
        making.make_of(database, folder, folder, path, alone=True)
    except (BackupError, OSError) as error:
        raise BackupError(
            f"The tables of the database have to be brought from revision {found} to {newest}, and no copy could be "
            f"made before: {error} Nothing was changed."
        ) from error
    return path
