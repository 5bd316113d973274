"""`/backup-files/NAME`: a backup, for owners of this Winnow."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from web.guard import PERSON_HEADER
from workflow.access import NotAllowed, NotFound
from workflow.home import home
from workflow.outgoing.backups import owners
from workflow.saving import NotSaved
from workflow.seat import Seat


def backup_file(request: Request) -> Response:
    """The file, to be stored and never shown; 404 where there is none, 403 for who is no owner of this Winnow."""
    seat = Seat(home(), int(request.headers.get(PERSON_HEADER, "0")))  # set by the guard
    try:
        path = owners.find_backup(seat, request.path_params["name"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
    except NotSaved as why:
        return PlainTextResponse(str(why), status_code=503)
    return FileResponse(
        path, media_type="application/octet-stream", filename=path.name, headers={"cache-control": "no-store"}
    )
