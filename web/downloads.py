"""`/exports/PROJECT/KEY`: a file that the signed-in person has requested on the Export page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from web.guard import seat_of
from workflow.access import NotAllowed, NotFound
from workflow.backups import owners
from workflow.exporting import files
from workflow.files import media, spectrograms
from workflow.saving import NotSaved
from workflow.seat import Seat


def prepared_file(request: Request) -> Response:
    """Return the file as a download; 404 unless it was prepared for this person, and for people who are not
    members of the project; 403 for a member who is not an owner."""
    seat = seat_of(request, request.path_params["project"])
    try:
        path, file_name = files.find(seat, request.path_params["key"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
    return FileResponse(
        path,
        media_type="application/octet-stream",  # no browser must render it as a page, whatever it holds
        filename=file_name,
        headers={"cache-control": "no-store"},
    )


# `/backup-files/NAME`: a backup, for owners of this Winnow.


def backup_file(request: Request) -> Response:
    """Return the file as a download; 404 if there is none, 403 for people who are not owners of this
    Winnow."""
    seat = seat_of(request)
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


# `/files/NAME`: images and recordings of tables, for people who are signed in; `/files/NAME/small`:
# thumbnails; `/files/NAME/spectrogram`: spectrograms of recordings.

Given = TypeVar("Given", bound=Response | None)

EDGES_HEADER = "x-winnow-edges"
"""Header with the edges of a spectrogram (`spectrograms.Edges`)."""

# The name is a hash of the content, so a copy never expires; private: no proxy may store it for others.
_CACHE = "private, max-age=31536000, immutable"

# Decoding and Fourier transforms use a core each: pages must not wait for many of them.
_DRAWING = ThreadPoolExecutor(2, thread_name_prefix="spectrogram")


def kept_file(request: Request) -> Response:
    """Return the file, or the range that a player requests; 404 unless an active project that this person may
    see names it; 403 for people without access to this Winnow."""

    def give(seat: Seat, name: str) -> Response:
        path, content_type = media.find(seat, name)
        return FileResponse(path, media_type=content_type, headers={"cache-control": _CACHE})

    return _for_whoever_may(request, give)


def small_picture(request: Request) -> Response:
    """Return a thumbnail of the image; refused like the image itself, and 404 for a recording."""

    def give(seat: Seat, name: str) -> Response:
        data, content_type = media.find_small(seat, name)
        return Response(data, media_type=content_type, headers={"cache-control": _CACHE})

    return _for_whoever_may(request, give)


async def spectrogram(request: Request) -> Response:
    """Return the spectrogram of a recording; refused like the recording itself. 400 if the parameters are
    invalid, 415 if the file cannot be decoded; both with a message."""
    try:
        asked = spectrograms.Asked.of(request.query_params)
    except spectrograms.BadRequestError as wrong:
        return PlainTextResponse(str(wrong), status_code=400)

    def give_kept(seat: Seat, name: str) -> Response | None:
        drawn = spectrograms.kept(seat, name, asked)
        return None if drawn is None else _picture(drawn)

    def give_drawn(seat: Seat, name: str) -> Response:
        try:
            return _picture(spectrograms.draw(seat, name, asked))
        except spectrograms.NotDrawnError as unreadable:
            return PlainTextResponse(str(unreadable), status_code=415)

    answer = await run_in_threadpool(_for_whoever_may, request, give_kept)
    if answer is None:
        drawing = partial(_for_whoever_may, request, give_drawn)
        answer = await asyncio.get_running_loop().run_in_executor(_DRAWING, drawing)
    return answer


def _picture(drawn: spectrograms.Spectrogram) -> Response:
    headers = {"cache-control": _CACHE, EDGES_HEADER: drawn.edges.as_json()}
    return Response(drawn.png, media_type="image/png", headers=headers)


def _for_whoever_may(request: Request, give: Callable[[Seat, str], Given]) -> Given | Response:
    try:
        return give(seat_of(request), request.path_params["name"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
