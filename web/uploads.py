"""`POST /uploads?name=NAME`: a file from its owner's browser, to the disk while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from web.guard import PERSON_HEADER
from workflow.access import NotAllowed
from workflow.importing import arrivals
from workflow.saving import DatabaseReplacedError
from workflow.seat import Seat
from workflow.server.home import home

SILENCE = 60.0
"""Seconds after which a file of which nothing more comes is given up."""
TYPE = "application/octet-stream"
"""Content type of the body: no form of another site can, and its scripts would have to ask first."""
PIECE = 1 << 20
"""Bytes that are written at a time."""

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
    """Take a file in: 201 with its key, name and size, once all of it is on the disk.

    Whether the person may is asked before a byte of it is read. Refused, and nothing kept: 403 for who is no owner, 408
    if nothing more comes, 413 a file too large, whether it said so before or not, 415 another type, 429 while
    another one of theirs comes, 507 no room.
    """
    if request.headers.get("content-type") != TYPE:
        return PlainTextResponse(f"A file is sent as {TYPE}.", 415)
    try:
        arrived = await take_in(request, _seat(request), request.query_params.get("name", ""))
    except tuple(_STATUS) as error:
        words = str(error) or "The upload fell silent. Fix: try again."
        return PlainTextResponse(words, _STATUS[type(error)], headers={"connection": "close"})
    return JSONResponse({"key": arrived.key, "name": arrived.name, "size": arrived.size}, 201)


async def take_in(request: Request, seat: Seat, name: str) -> arrivals.Arrived:
    """The file that is the body, once all of it is on the disk. Raises NotAllowed, before a byte of it is read;
    TooLarge, OneAtATime, NoRoom; TimeoutError where nothing more comes, ClientDisconnect. Nothing is kept then."""
    size = request.headers.get("content-length")
    arriving = await run_in_threadpool(arrivals.begin, seat, name, None if size is None else int(size))
    try:
        async for piece in _pieces(request):
            await run_in_threadpool(arriving.write, piece)
        return await run_in_threadpool(arriving.finish)
    finally:
        arriving.end()


async def _pieces(request: Request) -> AsyncIterator[bytearray]:
    """The body in pieces that are worth a write each. Raises TimeoutError and ClientDisconnect."""
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


def _seat(request: Request) -> Seat:
    return Seat(home(), int(request.headers.get(PERSON_HEADER, "0")))  # set by the guard
