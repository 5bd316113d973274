"""Layouts of maps, computed in the worker's process by a thread, so that no training waits for one."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from db import projects
from workflow.importing.encoding_worker import EncodingWorker
from workflow.models import leases
from workflow.models.training import attempt
from workflow.rows import instance_map

if TYPE_CHECKING:
    from workflow.rows.instance_map import Wish
    from workflow.server.home import Home

logger = logging.getLogger("winnow")

KILLED = (
    "The layout was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory. It is "
    "next tried in an hour."
)
LOOK_EVERY = 1.0
"""Seconds between two checks for requested layouts."""


def has_due_work(home: Home) -> bool:
    """Whether a worker is needed to lay out a map."""
    return bool(instance_map.wishes(home))


class MapWorker(EncodingWorker):
    """A worker that does the work of an `EncodingWorker`, and lays out maps."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._next_map = 0.0
        self._laying: threading.Thread | None = None

    def look(self) -> bool:
        """Do the work of `workflow.models.training.Worker.look`, after starting a requested layout."""
        if time.monotonic() >= self._next_map:
            self._next_map = time.monotonic() + LOOK_EVERY
            if self._laying is None or not self._laying.is_alive():
                self._begin()
        return super().look()

    def lay_out(self, wished: Wish) -> None:
        """Compute one layout. Does nothing if another worker has it; a request for a project that is gone, or has
        another table by now, is dropped."""
        with self.home.database.read() as session:
            tables = {one.id: one.table_hash for one in projects.listed(session)}
        if tables.get(wished.project_id) != wished.table_hash:
            instance_map.drop(self.home, wished)
            return
        with leases.hold(
            self.home, wished.project_id, self.name, wished.table_hash, instance_map.TASK, KILLED
        ) as lease:
            if lease is None:
                return
            words = f"The map of project {wished.project_id} cannot be laid out."
            with attempt(lambda fault: instance_map.note_fault(self.home, wished, fault), words):
                instance_map.fulfil(self.home, wished)

    def _begin(self) -> None:
        if wishes := instance_map.wishes(self.home):
            self._laying = threading.Thread(target=self._lay_out_all, args=(wishes,), name="map-layouts", daemon=True)
            self._laying.start()

    def _lay_out_all(self, wishes: list[Wish]) -> None:
        for wished in wishes:
            try:
                self.lay_out(wished)
            except Exception:  # the database or the disk may be unavailable for a while: it is retried
                logger.exception("The map of project %s was not laid out; it is tried again.", wished.project_id)
