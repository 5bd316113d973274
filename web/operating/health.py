"""`/healthz`: is the server alive? `/readyz`: can it store what people say? Both are open to all, and say no more."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from datetime import UTC, datetime

from anyio import CapacityLimiter, to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from workflow.backups import keeping
from workflow.saving import (
    STORE_FAULTS,
    DamagedPagesError,
    note_fault,
    why_it_failed,
    why_not_now,
    why_nothing_is_saved,
)
from workflow.server.home import Home, home

_log = logging.getLogger("winnow")
_ROOM = 1024 * 1024
"""Bytes for which there must be room next to the database."""
PATIENCE = 5.0
"""Seconds that `/readyz` waits for the write lock. A press waits longer, but people notice."""
_ONE_LOOK = CapacityLimiter(1)
"""At most one request at a time takes the write lock, so frequent requests cannot block writers."""


def healthz(_request: Request) -> JSONResponse:
    """Return 200 `{"status": "ok"}`, with `backups` if they have a problem, which does not stop answers; 503 with the
    reason if the database does not answer or is damaged, or nothing can be
    written."""
    here = home()
    if (why := why_unhealthy(here)) is not None:
        return JSONResponse({"status": why}, status_code=503)
    if keeping.why_worried(here.settings, datetime.now(UTC)) is not None:  # the words may name files
        return JSONResponse(
            {"status": "ok", "backups": "failed, damaged or overdue: owners see more on the page Backups"}
        )
    return JSONResponse({"status": "ok"})


async def readyz(_request: Request) -> JSONResponse:
    """Return 200 `{"status": "ready"}` if `/healthz` is well and the write lock can be taken now, else 503 with the
    reason."""
    try:
        async with asyncio.timeout(PATIENCE):
            why = await to_thread.run_sync(_why_not_ready, home(), limiter=_ONE_LOOK, abandon_on_cancel=True)
    except TimeoutError:
        why = f"another writer holds the database, for {PATIENCE:.0f} seconds by now"
    return JSONResponse({"status": why or "ready"}, status_code=200 if why is None else 503)


def _why_not_ready(here: Home) -> str | None:
    return why_unhealthy(here) or why_not_now(here)


def why_unhealthy(here: Home) -> str | None:
    """Return why nothing can be stored, as a message for everyone; None if it can. The log has more."""
    try:
        here.database.check()
    except DamagedPagesError as error:
        _log.error("%s", error)
        return "database is damaged"
    except (SQLAlchemyError, *STORE_FAULTS) as error:
        note_fault(error, why_it_failed(error) or "The database does not answer.")
        return "database does not answer"
    if (why := why_nothing_is_saved(here) or _why_there_is_no_room(here)) is not None:
        _log.error("%s", why)
    return why


def _why_there_is_no_room(here: Home) -> str | None:
    """Return why a file cannot be written: a full disk, a quota or a limit of this process. None of it is left."""
    folder = here.settings.home if here.database.path is None else here.database.path.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, _ROOM)
            else:
                file.write(bytes(_ROOM))
    except OSError as error:
        return f"The data folder cannot be written: {error.strerror}."
    return None
