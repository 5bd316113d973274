"""`/healthz`: is the server up and does its database answer?"""

from __future__ import annotations

import logging

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from workflow.home import home
from workflow.saving import DatabaseReplacedError

_log = logging.getLogger(__name__)


def healthz(_request: Request) -> JSONResponse:
    """200 `{"status": "ok"}`, or 503 when the database does not answer, or what is stored would be lost with this
    process. Open to all, so it says no more.
    """
    try:
        home().database.check()
    except (SQLAlchemyError, DatabaseReplacedError):
        _log.exception("The database does not answer.")
        return JSONResponse({"status": "database does not answer"}, status_code=503)
    return JSONResponse({"status": "ok"})
