"""`POST /uploads?name=NAME`: a file from its owner's browser, streamed to disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from web.guard import seat_of
from workflow.access import NotAllowed
from workflow.importing import arrivals
from workflow.saving import DatabaseReplacedError
from workflow.seat import Seat

SILENCE = 60.0
"""Seconds without further bytes before an upload is aborted."""
TYPE = "application/octet-stream"
"""Content type of the body: forms of other sites cannot send it, and their scripts would need permission
first."""
PIECE = 1 << 20
"""Bytes written at a time."""

_STATUS: dict[type[Exception], int] = {
    NotAllowed: 403,
    arrivals.TooLarge: 413,
    arrivals.OneAtATime: 429,
    arrivals.NoRoom: 507,
    DatabaseReplacedError: 503,
    TimeoutError: 408,
    ClientDisconnect: 400,
}


async def receive_file(request: Request) -> Response:
    """Receive a file: 201 with its key, name and size, once all of it is on the disk.

    Access is checked before a byte is read. If refused, nothing is stored: 403 for people who are not owners,
    408 if nothing more arrives, 413 if the file is too large, announced or not, 415 for another type, 429
    while another upload of this person runs, 507 if the disk is full.
    """
    if request.headers.get("content-type") != TYPE:
        return PlainTextResponse(f"A file is sent as {TYPE}.", 415)
    try:
        arrived = await take_in(request, seat_of(request), request.query_params.get("name", ""))
    except tuple(_STATUS) as error:
        words = str(error) or "The upload stopped. Fix: try again."
        return PlainTextResponse(words, _STATUS[type(error)], headers={"connection": "close"})
    return JSONResponse({"key": arrived.key, "name": arrived.name, "size": arrived.size}, 201)


async def take_in(request: Request, seat: Seat, name: str) -> arrivals.Arrived:
    """Store the body as a file, once all of it is on the disk. Raises NotAllowed, before a byte is read;
    TooLarge, OneAtATime, NoRoom; TimeoutError if nothing more arrives, ClientDisconnect. Nothing is stored
    then."""
    size = request.headers.get("content-length")
    arriving = await run_in_threadpool(arrivals.begin, seat, name, None if size is None else int(size))
    try:
        async for piece in _pieces(request):
            await run_in_threadpool(arriving.write, piece)
        return await run_in_threadpool(arriving.finish)
    finally:
        arriving.end()


async def _pieces(request: Request) -> AsyncIterator[bytearray]:
    """Yield the body in pieces large enough for a write each. Raises TimeoutError and ClientDisconnect."""
    stream, piece = request.stream(), bytearray()
    while True:
        async with asyncio.timeout(SILENCE):
            chunk = await anext(stream, None)
        if chunk is None:
            break
        piece += chunk
        if len(piece) >= PIECE:
            yield piece
            piece = bytearray()
    if piece:
        yield piece
