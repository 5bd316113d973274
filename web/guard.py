"""The guard: nobody reaches a page, a file or the websocket without being signed in.

Pure ASGI, because Starlette's BaseHTTPMiddleware never sees a websocket.
"""

from __future__ import annotations

import asyncio

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workflow.access import Person
from workflow.home import home
from workflow.people import members, team
from workflow.saving import DatabaseReplacedError
from workflow.seat import Seat

#: Header by which pages learn who is there (the person's id); any sent by the client is dropped.
PERSON_HEADER = "x-winnow-person"
#: Part of the path of Streamlit's upload route, below whatever the server is mounted at.
UPLOADS = "/_stcore/upload_file"
SILENCE = 60.0
"""Seconds after which an upload of which nothing more comes is given up, so that it keeps no other one out."""
OPEN_PATHS = frozenset({"/signin", "/healthz"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGNED_OUT = 4401  # websocket close code, after HTTP 401


class Guard:
    """ASGI middleware that lets only signed-in people through and tells the pages who they are.

    Without a sign-in: HTML requests are sent to /signin, other HTTP requests get 401, websockets are refused
    at the handshake. Files are uploaded by owners alone, one at a time: Streamlit keeps in memory whatever it is sent,
    for as long as the page is open. A websocket is asked for its sign-in again at every message, because signing out or
    disabling a person must end the pages they have open. Requests that change something, and websockets, are
    refused when another site (another port of this machine is one) makes them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._uploading = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        scope = _without_person_header(scope)
        headers = Headers(scope=scope)
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
        if changes and _is_from_elsewhere(headers):
            await _refuse(scope, receive, send, PlainTextResponse("Refused: sent by another site.", 403))
            return
        if scope["type"] == "http" and scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        secret = HTTPConnection(scope).cookies.get(cookie_name(scope))
        try:
            person = await _person(secret)
        except DatabaseReplacedError as error:  # a connection more was needed than there were
            await _refuse(scope, receive, send, PlainTextResponse(str(error), 503))
            return
        if secret is None or person is None:
            await _refuse(scope, receive, send, _ask_to_sign_in(scope, headers))
            return
        scope["headers"] = [*scope["headers"], (PERSON_HEADER.encode(), str(person.id).encode())]
        if scope["type"] == "websocket":
            receive, send = _while_signed_in(secret, receive, send)
        elif UPLOADS in scope["path"]:
            await self._upload(scope, receive, send, person)
            return
        await self.app(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send, person: Person) -> None:
        """Let the request through to Streamlit's upload route, or say why not."""
        if not await run_in_threadpool(members.may_upload, Seat(home(), person.id)):
            words = "Only owners upload files. Fix: ask an owner to import the table."
            await _refuse(scope, receive, send, PlainTextResponse(words, 403))
        elif scope["method"] != "PUT":
            await self.app(scope, receive, send)
        elif self._uploading:
            words = "Another file is being uploaded. Fix: try again when it is done."
            await _refuse(scope, receive, send, PlainTextResponse(words, 429))
        else:
            self._uploading = True
            try:
                await self.app(scope, _while_it_comes(receive), send)
            except TimeoutError:
                await _refuse(scope, receive, send, PlainTextResponse("The upload fell silent.", 408))
            finally:
                self._uploading = False


def _while_it_comes(receive: Receive) -> Receive:
    """Receives the body of an upload, and raises TimeoutError where nothing comes for SILENCE seconds."""

    async def receive_while_it_comes() -> Message:
        async with asyncio.timeout(SILENCE):
            return await receive()

    return receive_while_it_comes


def _while_signed_in(secret: str, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """The two ends of a websocket that close at the first message after the sign-in has ended."""
    ended = False

    async def receive_while_signed_in() -> Message:
        nonlocal ended
        message = await receive()
        if message["type"] == "websocket.receive" and not ended and await _has_ended(secret):
            ended = True
            await send({"type": "websocket.close", "code": _SIGNED_OUT})
        return {"type": "websocket.disconnect", "code": _SIGNED_OUT} if ended else message

    async def send_while_signed_in(message: Message) -> None:
        if not ended:
            await send(message)

    return receive_while_signed_in, send_while_signed_in


def cookie_name(scope: Scope) -> str:
    """Name of the sign-in cookie. A browser shares cookies among the ports of a host, so the port is part of it."""
    _host, port = scope.get("server") or ("", 0)
    return f"winnow_signin_{port}"


def _without_person_header(scope: Scope) -> Scope:
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != PERSON_HEADER.encode()]
    return {**scope, "headers": kept}


def _is_from_elsewhere(headers: Headers) -> bool:
    """True where a browser names another origin than this server; programs that are no browser name none."""
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


async def _person(secret: str | None) -> Person | None:
    if secret is None:
        return None
    here = home()
    if (
        here.database.is_sqlite
    ):  # half a millisecond that waits for nobody; a thread would take longer to be had
        return team.person_of(here, secret)
    return await run_in_threadpool(lambda: team.person_of(here, secret))


async def _has_ended(secret: str) -> bool:
    """Whether the sign-in is over; False where the database cannot tell: the page asks it again, and says why not."""
    try:
        return await _person(secret) is None
    except DatabaseReplacedError:
        return False


def _ask_to_sign_in(scope: Scope, headers: Headers) -> Response:
    if (
        scope["type"] == "http"
        and scope["method"] in ("GET", "HEAD")
        and "text/html" in headers.get("accept", "")
    ):
        return RedirectResponse("/signin", status_code=303)
    return PlainTextResponse("Sign in first.", status_code=401)


async def _refuse(scope: Scope, receive: Receive, send: Send, response: Response) -> None:
    if scope["type"] == "websocket":
        await receive()  # the websocket.connect event
        # Before it was accepted: the server answers the handshake with HTTP 403.
        await send({"type": "websocket.close", "code": _SIGNED_OUT})
        return
    await response(scope, receive, send)
