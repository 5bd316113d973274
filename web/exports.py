"""`/exports/PROJECT/KEY`: a file that the signed-in person has had prepared on the Export page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from web.guard import PERSON_HEADER
from workflow import exporting
from workflow.access import NotAllowed, NotFound
from workflow.home import home
from workflow.seat import Seat


def prepared_file(request: Request) -> Response:
    """The file, to be stored and never shown; 404 unless it was prepared for this person, and for who is no
    member of the project; 403 for a member who is no owner."""
    person_id = int(
        request.headers.get(PERSON_HEADER, "0")
    )  # set by the guard, which lets nobody else through
    seat = Seat(home(), person_id, request.path_params["project"])
    try:
        path, file_name = exporting.find(seat, request.path_params["key"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
    return FileResponse(
        path,
        media_type="application/octet-stream",  # whatever it holds, no browser is to make a page of it
        filename=file_name,
        headers={"cache-control": "no-store"},
    )
