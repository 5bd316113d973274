"""Streamlit's open addresses, and who may use them; all others answer 404.

Streamlit answers at more addresses than Winnow needs: process metrics, its own sign-in, an interface for
agents, files under guessable names. An address added by a new release stays closed until it is listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.file_util import get_static_dir
from streamlit.path_security import is_unsafe_path_pattern

from web import bearer
from web.problems import no_call
from web.signin_page import page

STREAM = "/_stcore/stream"
HOST_CONFIG = "/_stcore/host-config"
_STATIC = "/static/"
STREAMLITS = {
    "/favicon.png": ("GET",),
    "/manifest.json": ("GET",),
    f"{_STATIC}{{name:path}}": ("GET",),
    "/_stcore/health": ("GET",),
    "/media/{name}": ("GET",),
}
"""Streamlit's addresses with their methods, for anyone who is signed in. In addition there are HOST_CONFIG,
which we answer, and STREAM, the websocket of the pages."""

FRAMED_BY = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": False,
    "resourceCrossOriginMode": None,
}
"""Reply to Streamlit's request for the sites that may frame its pages. None may frame Winnow, so none is
named: Streamlit's own answer names the hosts of its cloud."""

_POLICY = 1008  # websocket close code of a policy violation
_NOT_THERE = "There is no such address here. Fix: begin at the start page."


async def host_config(_request: Request) -> JSONResponse:
    """Answer the first request of Streamlit's pages, about sites that may frame them."""
    return JSONResponse(FRAMED_BY, headers={"cache-control": "no-cache"})


class Closed:
    """ASGI middleware behind the guard: 404 for every address that is neither ours nor open, 405 for another method.

    ours : the routes of Winnow, which check access themselves
    """

    def __init__(self, app: ASGIApp, ours: Sequence[BaseRoute]) -> None:
        self._app = app
        self._host_config = _route(HOST_CONFIG, "GET")
        open_ones = [_route(path, *methods) for path, methods in STREAMLITS.items()]
        folder = Path(get_static_dir(), "static")
        self._static = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        self._routes = [*ours, *open_ones, self._host_config]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._answerer(scope)(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == STREAM:
            await self._app(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": _POLICY})  # before it is accepted: HTTP 403

    def _answerer(self, scope: Scope) -> ASGIApp:
        if self._host_config.matches(scope)[0] is Match.FULL:
            return self._host_config.app
        path: str = scope["path"]
        if path.startswith(_STATIC) and path.removeprefix(_STATIC) not in self._static:
            return _not_here(path, 404)  # Streamlit would answer with its page
        if is_unsafe_path_pattern(path.lstrip("/")):
            return _not_here(path, 404)  # Streamlit would answer with two words
        try:
            matches = {route.matches(scope)[0] for route in self._routes}
        except ValueError:  # a number of thousands of digits in the address
            return _not_here(path, 404)
        if Match.FULL in matches:
            return self._app
        return _not_here(path, 405 if Match.PARTIAL in matches else 404)


def _not_here(path: str, status: int) -> Response:
    if bearer.is_below(path):
        return no_call(status)
    return page("Not here", _NOT_THERE, status=status)


def _route(path: str, *methods: str) -> Route:
    return Route(path, host_config, methods=list(methods))
