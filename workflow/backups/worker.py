"""Backups made in the worker's process: those that were requested, and those that are due."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workflow.backups import keeping, making, staging
from workflow.backups.archive import check_archive
from workflow.backups.keeping import BackupWork
from workflow.backups.manifest import BackupError
from workflow.files import stored
from workflow.files.stored import make_folder
from workflow.models import training
from workflow.models.neighbors import NeighborWorker
from workflow.models.training import Stopped
from workflow.server import running
from workflow.server.home import Home

logger = logging.getLogger("winnow")

LOOK_EVERY = 1.0
"""Seconds between two checks whether a backup is due or requested."""
TOLD_EVERY = 1.0
"""Seconds between two notes of the progress."""


def has_due_work(home: Home) -> bool:
    """Return whether a worker is needed for a backup, whatever other work there is."""
    return keeping.has_due_work(home.settings, datetime.now(UTC))


class BackupWorker(NeighborWorker):
    """Does what a `NeighborWorker` does, and makes the backups."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._next = 0.0

    def look(self) -> bool:
        """Do the work of `NeighborWorker.look`, after any backups, since a fit may take long."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LOOK_EVERY
            if has_due_work(self.home):
                self.back_up()
        return super().look()

    def back_up(self) -> None:
        """Make the backup that is wanted, check the others again, and remove surplus ones. Does nothing if another
        worker is doing it."""
        folder = self.home.backups_dir
        with ExitStack() as stack:
            try:
                make_folder(folder)
                stack.enter_context(running.alone(folder))
            except running.InUseError:
                return
            except OSError as error:  # it cannot be recorded either
                logger.error("The folder of backups cannot be written: %s", error)
                self._next = time.monotonic() + keeping.RETRY.total_seconds()
                return
            if has_due_work(self.home):  # another worker may have made it meanwhile
                self._make(folder)

    def _make(self, folder: Path) -> None:
        state = keeping.running(keeping.work(folder))
        told = -TOLD_EVERY

        def tell(done: int, total: int) -> None:
            nonlocal told
            self.go_on()
            if done < total and time.monotonic() - told < TOLD_EVERY:
                return
            told = time.monotonic()
            keeping.note_work(folder, replace(state, done=done, total=total))
            self._learn_meanwhile()

        try:
            stored.clear(self.home.settings)
            keeping.note_work(folder, state)
            path = making.place_at(folder, datetime.now(UTC))
            making.make(self.home, path, tell)
            keeping.note_checked(folder, path)
            if self.home.settings.backups.every is not None:
                self._check_others(folder, path)
                settings = self.home.settings
                keeping.remove_old(folder, settings.backups.kept, staging.staged(settings.home))
            keeping.note_work(folder, replace(state, state=keeping.DONE, at=datetime.now(UTC)))
        except Stopped:
            raise
        except (BackupError, OSError) as error:
            logger.error("No backup could be made: %s", error)
            self._note_failed(folder, state, str(error))
        except Exception as error:  # otherwise it would be restarted at every look, and learning would stop
            logger.exception("No backup could be made")
            self._note_failed(folder, state, f"{type(error).__name__}: {error}. The log of the worker has the details.")

    def _learn_meanwhile(self) -> None:
        """Continue learning from answers while a backup is made. Its failures do not affect the backup."""
        try:
            training.Worker.look(self)
        except Stopped:
            raise
        except Exception:
            logger.exception("Training paused while a backup was made; it continues")

    def _note_failed(self, folder: Path, state: BackupWork, fault: str) -> None:
        try:
            failed = replace(state, state=keeping.FAILED, at=datetime.now(UTC), fault=fault)
            keeping.note_work(folder, failed)
        except OSError:
            self._next = time.monotonic() + keeping.RETRY.total_seconds()

    def _check_others(self, folder: Path, new: Path) -> None:
        for one in keeping.kept(folder):
            if one.path == new:
                continue
            fault = ""
            try:
                check_archive(one.path, lambda *_: self.go_on())
            except (BackupError, OSError) as error:
                fault = str(error)
                logger.error("%s", error)
            keeping.note_checked(folder, one.path, fault)
