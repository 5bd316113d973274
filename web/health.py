"""`/healthz`: is the server up and does its database answer?"""

from __future__ import annotations

import logging

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from workflow.home import home

_log = logging.getLogger(__name__)


def healthz(_request: Request) -> JSONResponse:
    """200 `{"status": "ok"}`, or 503 when the database does not answer. Open to all, so it says no more."""
    try:
        with home().database.read() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        _log.exception("The database does not answer.")
        return JSONResponse({"status": "database does not answer"}, status_code=503)
    return JSONResponse({"status": "ok"})
