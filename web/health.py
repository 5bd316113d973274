"""`/healthz`: is the server up, and can it store what people say?"""

from __future__ import annotations

import logging
import os
import tempfile
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from workflow.home import Home, home
from workflow.outgoing.backups import keeping
from workflow.saving import STORE_FAULTS, why_nothing_is_saved

_log = logging.getLogger(__name__)
_ROOM = 1024 * 1024
"""Bytes for which there must be room beside the database."""


def healthz(_request: Request) -> JSONResponse:
    """200 `{"status": "ok"}`, and with `backups` where they are not as they should be, which keeps nobody from
    answering; 503 with the reason in words, where the database does not answer, what is stored would be lost with this
    process, or nothing can be written. Open to all, so it says no more.
    """
    here = home()
    try:
        here.database.check()
    except (SQLAlchemyError, *STORE_FAULTS):
        _log.exception("The database does not answer.")
        return JSONResponse({"status": "database does not answer"}, status_code=503)
    if (why := why_nothing_is_saved(here) or _why_there_is_no_room(here)) is not None:
        _log.error("%s", why)
        return JSONResponse({"status": why}, status_code=503)
    if keeping.why_worried(here.settings, datetime.now(UTC)) is not None:  # the words may name files
        return JSONResponse(
            {"status": "ok", "backups": "failed, damaged or overdue: owners see more on the page Backups"}
        )
    return JSONResponse({"status": "ok"})


def _why_there_is_no_room(here: Home) -> str | None:
    """Also by a quota, or a limit of this process; nothing of it is left."""
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
