"""The training processes of this server: started when a project first needs one, started again when one dies."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.importing.encoding_worker import anything_to_do
from workflow.models import map_worker
from workflow.outgoing.backups import backup_worker
from workflow.saving import FaultLog

if TYPE_CHECKING:
    from workflow.home import Home

logger = logging.getLogger("winnow")

_PROGRAM = Path(__file__).parents[1] / "worker.py"
LOOK_EVERY = 1.0
"""Seconds between two looks whether a project needs a worker."""
PATIENCE = 5.0
"""Seconds a worker has to end before it is ended."""


class WorkerCrew:
    """Keeps `WINNOW_WORKERS` training processes alive while some project needs one: it has a model that they train,
    or rows to be encoded; or while a layout of a map, or a backup, is wanted."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._workers: list[subprocess.Popen[bytes]] = []
        self._seen: object = None  # the database when it was last looked whether anything is to be trained
        self._needed = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="worker-crew", daemon=True)

    def start(self) -> None:
        """Begin to watch in a thread whether workers are needed."""
        self._thread.start()

    def stop(self) -> None:
        """End the workers; one in the middle of a fit is not waited for: nothing of it was published."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            try:
                worker.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    def _watch(self) -> None:
        faults = FaultLog()
        while not self._stop.wait(LOOK_EVERY):
            try:
                self._look()
                faults.well()
            except Exception as error:  # the database may be away for a while; the crew outlives it
                faults.say(error, "The training processes could not be looked after; it is tried again.")
                self._stop.wait(10 * LOOK_EVERY)

    def _look(self) -> None:
        alive = [worker for worker in self._workers if worker.poll() is None]
        if len(alive) < len(self._workers):
            logger.warning("A training process ended; another is started.")
            self._stop.wait(10 * LOOK_EVERY)  # not again and again at once
        self._workers = alive
        if self._stop.is_set():
            return
        if len(alive) < self._home.settings.workers and self._is_needed():
            self._workers += [_start() for _ in range(self._home.settings.workers - len(alive))]

    def _is_needed(self) -> bool:
        stamp = self._home.database.stamp()
        if stamp != self._seen:
            self._needed, self._seen = anything_to_do(self._home), stamp
        return (
            self._needed or map_worker.anything_to_do(self._home) or backup_worker.anything_to_do(self._home)
        )


def _start() -> subprocess.Popen[bytes]:
    # The worker reads the same environment; the pipe tells it when this process ends, however it ends. In a session of
    # its own it can step back behind all others (`worker.py`).
    command = [sys.executable, str(_PROGRAM), "--with-parent"]  # our own program, no input of users
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603
