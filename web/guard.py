"""The guard: only signed-in people reach a page, a file or the websocket.

Pure ASGI, because Starlette's BaseHTTPMiddleware never sees a websocket.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.AuthRedirect_pb2 import AuthRedirect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from web import bearer
from web.operating.connections import open_pages
from web.problems import problem
from web.proxies import proxy_user
from web.signin_page import cookie_of
from workflow.people import browsers, elsewhere, tokens
from workflow.people.browsers import SignedIn
from workflow.people.tokens import TokenUse
from workflow.saving import STORE_FAULTS, words_for_fault
from workflow.seat import Seat
from workflow.server.home import Home, home

# Files that Streamlit has announced to each sign-in: `/media/NAME` is only for a sign-in whose page has named
# it.

PATH = "/media/"
MOST = 20_000
"""Maximum of remembered names; the oldest are dropped first."""

_BEGINNING = PATH.encode()
_HASH = "[0-9a-f]{32}"  # of the file's content; followed by the extension, and in a message by anything
_TOLD = re.compile(f"{PATH}({_HASH})".encode())
_ASKED = re.compile(rf"{PATH}({_HASH})(\.\w+)?")


class NamedFiles:
    """Names of files in messages to open pages, by sign-in number."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._told: OrderedDict[tuple[int, str], None] = OrderedDict()

    def note(self, sign_in_id: int, frame: bytes) -> None:
        """Record the names in a message to a page of this sign-in."""
        if _BEGINNING not in frame:
            return
        for found in _TOLD.findall(frame):
            key = sign_in_id, found.decode()
            self._told[key] = None
            self._told.move_to_end(key)
        while len(self._told) > self._most:
            self._told.popitem(last=False)

    def knows(self, sign_in_id: int, path: str) -> bool:
        """Return whether a page of this sign-in has named the file at this path."""
        asked = _ASKED.fullmatch(path)
        return asked is not None and (sign_in_id, asked[1]) in self._told


Found = TypeVar("Found")

TOKEN = "winnow.token"  # noqa: S105 - a key
"""Key of the scope of a program's request, with the token that it has sent; no client can set it."""

#: Header by which pages learn who is there (the person's id); any sent by the client is dropped.
PERSON_HEADER = "x-winnow-person"
#: The same of the number of their sign-in.
SIGN_IN_HEADER = "x-winnow-sign-in"
SEEN_EVERY = 300.0
"""Seconds between two updates of when a browser was last seen."""
BELIEVED_FOR = 300.0
"""Seconds for which an open page keeps the identity given by a proxy, since its messages do not pass the
proxy again."""
QUIET = 0.5
"""Seconds of silence afterwards before its websocket is closed, so that no click is lost."""
ENDED = "/signin?ended=1"
"""Target of a page whose sign-in has ended; it explains why."""
OPEN_PATHS = frozenset({"/signin", "/signin/openid", "/signin/openid/back", "/healthz", "/readyz", "/metrics"})
"""Open to all; `/metrics` asks by itself who may read it."""
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGNED_OUT = 4401  # websocket close code, after HTTP 401
_COME_AGAIN = 1012  # close code of a restarting service: the page reconnects


class Guard:
    """ASGI middleware that admits only signed-in people and tells the pages who they are.

    Without a sign-in, HTML requests are redirected to /signin, other HTTP requests get 401, and websockets
    are refused at the handshake. A websocket's sign-in is checked again at every message, because signing
    out, or ending a sign-in or a person's access, must end their open pages: such a page is redirected to a
    message. Files that pages hand out go only to the sign-in whose page has named them. If a trusted proxy
    names a person, no one else is admitted. An open page has to reconnect now and then, so that a person whom
    the proxy has signed out is signed out here too. Requests that change something, and websockets, are
    refused if another site makes them; another port of this machine is another site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._seen: dict[tuple[str, int], float] = {}
        self._told = NamedFiles()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        scope = _without_our_headers(scope)
        headers = Headers(scope=scope)
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
        if changes and _is_from_elsewhere(scope, headers):
            await _refuse(scope, receive, send, _sent_by_another(scope))
            return
        if scope["type"] == "http" and scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        if bearer.uses_token_only(scope, headers):
            await self._program(scope, headers, receive, send)
            return
        secret = cookie_of(HTTPConnection(scope))
        try:
            found = await _signed_in(secret)
            if found is not None and not await _agrees(scope, found):
                found = None
        except STORE_FAULTS as error:
            await _refuse(scope, receive, send, PlainTextResponse(words_for_fault(error), 503))
            return
        if secret is None or found is None:
            await _refuse(scope, receive, send, _ask_to_sign_in(scope, headers))
            return
        await self._see("browser", found.id)
        scope["headers"] = [
            *scope["headers"],
            (PERSON_HEADER.encode(), str(found.person.id).encode()),
            (SIGN_IN_HEADER.encode(), str(found.id).encode()),
        ]
        if scope["type"] == "websocket":
            await self._page(scope, secret, found, receive, send)
        elif scope["path"].startswith(PATH) and not self._told.knows(found.id, scope["path"]):
            await _refuse(scope, receive, send, PlainTextResponse("There is no such file here.", 404))
        else:
            await self.app(scope, receive, send)

    async def _page(self, scope: Scope, secret: str, found: SignedIn, receive: Receive, send: Send) -> None:
        """Let a page communicate, unless too many are open: its document reports that (`web.document`)."""
        if not open_pages.may_open(found.person.id):
            await _refuse(scope, receive, send, Response(status_code=429))
            return
        if found.how == "proxy":
            receive = _while_believed(receive, send)
        with open_pages.opened(found.person.id) as pace:
            await self.app(scope, *self._while_signed_in(secret, found.id, pace.keep(receive), send))

    async def _program(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Admit a program as the person of its token; any cookie it sends is ignored."""
        here, secret, found = home(), bearer.secret_of(headers), None
        try:
            if secret is not None:
                found = await _asked(here, lambda at: tokens.user_of(at, secret))
            if found is not None and not await _agrees(scope, found):
                found = None
        except STORE_FAULTS as error:
            refusal = problem(503, words_for_fault(error), {"retry-after": bearer.STORE_AGAIN})
            await refusal(scope, receive, send)
            return
        if found is None:
            await problem(401, bearer.NOBODY, {"www-authenticate": "Bearer"})(scope, receive, send)
        elif not here.attempts.may_call(found.person.id):
            await problem(429, bearer.TOO_MANY, {"retry-after": bearer.CALLS_AGAIN})(scope, receive, send)
        else:
            await self._see("token", found.id)
            person = (PERSON_HEADER.encode(), str(found.person.id).encode())
            headers_there = [*bearer.without_secrets(scope), person]
            await self.app({**scope, "headers": headers_there, TOKEN: found}, receive, send)

    async def _see(self, what: str, number: int) -> None:
        """Record now and then that the browser or token is used; after a failure it is not retried at
        once."""
        now = time.monotonic()
        if now - self._seen.get((what, number), -SEEN_EVERY) >= SEEN_EVERY:
            self._seen[what, number] = now
            note = browsers.see if what == "browser" else tokens.note_use
            await run_in_threadpool(note, home(), number)

    def _while_signed_in(self, secret: str, sign_in_id: int, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """Wrap both ends of a websocket to close it at the first message after the sign-in has ended."""
        ended = False

        async def receive_while_signed_in() -> Message:
            nonlocal ended
            message = await receive()
            if message["type"] == "websocket.receive" and not ended:
                ended = await self._has_ended(secret)
                if ended:
                    away = ForwardMsg(auth_redirect=AuthRedirect(url=home().settings.base_path + ENDED))
                    await send({"type": "websocket.send", "bytes": away.SerializeToString()})
                    await send({"type": "websocket.close", "code": _SIGNED_OUT})
            return {"type": "websocket.disconnect", "code": _SIGNED_OUT} if ended else message

        async def send_while_signed_in(message: Message) -> None:
            if not ended:
                self._told.note(sign_in_id, message.get("bytes") or b"")
                await send(message)

        return receive_while_signed_in, send_while_signed_in

    async def _has_ended(self, secret: str) -> bool:
        """Return whether the sign-in has ended; False if the database fails, which the page reports when it
        checks again."""
        try:
            found = await _signed_in(secret)
        except STORE_FAULTS:
            return False
        if found is not None:
            await self._see("browser", found.id)
        return found is None


def seat_of(request: HTTPConnection, project_id: int | None = None) -> Seat:
    """Return the seat of the person, or the program, admitted by the guard; at this project, if there is one."""
    used: TokenUse | None = request.scope.get(TOKEN)
    seat = Seat(home(), int(request.headers.get(PERSON_HEADER, "0"))) if used is None else tokens.seat_of(home(), used)
    return seat if project_id is None else seat.at(project_id)


def _while_believed(receive: Receive, send: Send) -> Receive:
    """Wrap receiving for BELIEVED_FOR seconds, then until nothing has come for QUIET, and then close the
    websocket. The page opens another one, and the proxy names the person again."""
    until = time.monotonic() + BELIEVED_FOR

    async def receive_while_believed() -> Message:
        coming = asyncio.ensure_future(receive())
        await asyncio.wait({coming}, timeout=max(QUIET, until - time.monotonic()))
        if coming.done():
            return coming.result()
        coming.cancel()
        await send({"type": "websocket.close", "code": _COME_AGAIN})
        return {"type": "websocket.disconnect", "code": _COME_AGAIN}

    return receive_while_believed


def _without_our_headers(scope: Scope) -> Scope:
    ours = {PERSON_HEADER.encode(), SIGN_IN_HEADER.encode()}
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0].lower() not in ours]}


def _is_from_elsewhere(scope: Scope, headers: Headers) -> bool:
    """Return whether a browser names another origin than this server, or says that another site sends the
    request; other programs name none. A page loaded without TLS has another origin than one loaded with
    it."""
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    scheme, _, host = origin.partition("://")
    schemes = ("https",) if scope["scheme"] in ("https", "wss") else ("http", "https")  # a proxy may terminate TLS
    return scheme not in schemes or host != headers.get("host")


def _sent_by_another(scope: Scope) -> Response:
    words = "Refused: sent by another site."
    if bearer.is_below(scope["path"]):
        return problem(403, f"{words} Fix: call from a program, which names no Origin, or from a page of Winnow.")
    return PlainTextResponse(words, 403)


async def _signed_in(secret: str | None) -> SignedIn | None:
    if secret is None:
        return None
    return await _asked(home(), lambda here: browsers.signed_in(here, secret))


async def _agrees(scope: Scope, found: SignedIn | TokenUse) -> bool:
    """Return whether a trusted proxy names the same person; if it names none, whether the sign-in was not by
    proxy."""
    here = home()
    user = proxy_user(scope, here.settings.sign_in)
    if user is None:
        return not isinstance(found, SignedIn) or found.how != "proxy"
    return await _asked(here, lambda at: elsewhere.person_by_proxy(at, user)) == found.person.id


async def _asked(here: Home, ask: Callable[[Home], Found]) -> Found:
    """Return the result from the database."""
    if here.database.is_sqlite:  # half a millisecond without waiting; getting a thread would take longer
        return ask(here)
    return await run_in_threadpool(ask, here)


def _ask_to_sign_in(scope: Scope, headers: Headers) -> Response:
    if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and "text/html" in headers.get("accept", ""):
        return RedirectResponse("/signin", status_code=303)
    return PlainTextResponse("Sign in first.", status_code=401)


async def _refuse(scope: Scope, receive: Receive, send: Send, response: Response) -> None:
    if scope["type"] == "websocket":
        await receive()  # the websocket.connect event
        # Not accepted yet, so the server answers the handshake with HTTP 403.
        await send({"type": "websocket.close", "code": _SIGNED_OUT})
        return
    await response(scope, receive, send)
