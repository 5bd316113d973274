"""`/exports/PROJECT/KEY`: a file that the signed-in person has had prepared on the Export page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from web.guard import PERSON_HEADER
from workflow.access import NotAllowed, NotFound
from workflow.backups import owners
from workflow.exporting import files
from workflow.files import media, spectrograms
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import home


def prepared_file(request: Request) -> Response:
    """The file, to be stored and never shown; 404 unless it was prepared for this person, and for who is no
    member of the project; 403 for a member who is no owner."""
    person_id = int(
        request.headers.get(PERSON_HEADER, "0")
    )  # set by the guard, which lets no one else through
    seat = Seat(home(), person_id, request.path_params["project"])
    try:
        path, file_name = files.find(seat, request.path_params["key"])
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


# `/backup-files/NAME`: a backup, for owners of this Winnow.


def backup_file(request: Request) -> Response:
    """The file, to be stored and never shown; 404 if there is none, 403 for who is no owner of this Winnow."""
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


# `/files/NAME`: images and recordings of tables, for people who are signed in; `/files/NAME/small`: small images;
# `/files/NAME/spectrogram`: pictures of recordings.

Given = TypeVar("Given", bound=Response | None)

EDGES_HEADER = "x-winnow-edges"
"""Carries the edges of a picture of sound (`spectrograms.Edges`) next to it."""

# The name is made from the content, so a copy is good for ever; private: no proxy may keep it for others.
_CACHE = "private, max-age=31536000, immutable"

# Decoding and Fourier transforms take a processor each: pages must not wait until many of them are done.
_DRAWING = ThreadPoolExecutor(2, thread_name_prefix="spectrogram")


def kept_file(request: Request) -> Response:
    """The file, or the range that a player asks for; 404 unless a project in use that this person may see
    names it; 403 for the disabled."""

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


async def spectrogram(request: Request) -> Response:
    """The picture of a recording; refused as the recording itself. 400 where the parameters mean nothing, 415 where the
    file cannot be decoded; both in words."""
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
    person_id = int(
        request.headers.get(PERSON_HEADER, "0")
    )  # set by the guard, which lets no one else through
    try:
        return give(Seat(home(), person_id), request.path_params["name"])
    except NotFound as missing:
        return PlainTextResponse(str(missing), status_code=404)
    except NotAllowed as refusal:
        return PlainTextResponse(str(refusal), status_code=403)
