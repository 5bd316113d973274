"""`/files/NAME`: images and recordings of tables, for people who are signed in; `/files/NAME/small`: small images."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from web.guard import PERSON_HEADER
from workflow import media
from workflow.access import NotAllowed, NotFound
from workflow.home import home
from workflow.seat import Seat

# The name is made from the content, so a copy is good for ever; private: no proxy may keep it for others.
_CACHE = "private, max-age=31536000, immutable"


def kept_file(request: Request) -> Response:
    """The file, or the range that a player asks for; 404 unless a project in use names it; 403 for the disabled."""

    def give(seat: Seat, name: str) -> Response:
        path, content_type = media.find(seat, name)
        return FileResponse(path, media_type=content_type, headers={"cache-control": _CACHE})

    return _for_whoever_may(request, give)


def small_picture(request: Request) -> Response:
    """The image made small; refused as the large one, and for a recording 404."""

    def give(seat: Seat, name: str) -> Response:
        data, content_type = media.find_small(seat, name)
        return Response(data, media_type=content_type, headers={"cache-control": _CACHE})

    return _for_whoever_may(request, give)


def _for_whoever_may(request: Request, give: Callable[[Seat, str], Response]) -> Response:
    person_id = int(
        request.headers.get(PERSON_HEADER, "0")
    )  # set by the guard, which lets nobody else through
    try:
        return give(Seat(home(), person_id), request.path_params["name"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
