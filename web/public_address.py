"""Winnow where people reach it: at a host of its own, or below a path such as `/winnow` that others stand beside.

All behind this knows no such path: it is taken away from what comes, and put before where answers send a browser and
before the paths of cookies. Pages have the addresses of files and scripts relative to their own.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workflow.settings import Settings

_TLS = {"http": "https", "ws": "wss"}
_COOKIES_PATH = re.compile(r"(?i)(;\s*path=)(?=/)")


class PublicAddress:
    """ASGI middleware for `WINNOW_PUBLIC_URL`; without that setting it changes nothing.

    A request for the host of an address with https came by TLS, whoever ended that: no other is given out. A proxy may
    take the path away before it passes a request on, or leave it.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        at = urlsplit(settings.public_url)
        self._app = app
        self._base = settings.base_path
        self._tls_host = at.netloc if at.scheme == "https" else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if self._tls_host is not None and Headers(scope=scope).get("host", "").lower() == self._tls_host:
            scope = {**scope, "scheme": _TLS.get(scope["scheme"], scope["scheme"])}
        if not self._base:
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == self._base:
            # Addresses are relative: without the slash they would be beside the path.
            query = scope["query_string"].decode("latin-1")
            there = f"{self._base}/?{query}" if query else f"{self._base}/"
            await RedirectResponse(there, status_code=307)(scope, receive, send)
        else:
            await self._app(self._without_base(scope), receive, self._with_base(send))

    def _without_base(self, scope: Scope) -> Scope:
        before = f"{self._base}/".encode()
        if not scope["path"].encode().startswith(before):
            return scope
        raw = scope.get("raw_path") or scope["path"].encode()
        cut = len(self._base)
        return {
            **scope,
            "path": scope["path"][cut:],
            "raw_path": raw[cut:] if raw.startswith(before) else scope["path"][cut:].encode(),
        }

    def _with_base(self, send: Send) -> Send:
        async def send_with_base(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                location = headers.get("location", "")
                if location.startswith("/") and not location.startswith("//"):
                    headers["location"] = self._base + location
                cookies = headers.getlist("set-cookie")
                if cookies:
                    del headers["set-cookie"]
                for cookie in cookies:
                    headers.append("set-cookie", _COOKIES_PATH.sub(rf"\g<1>{self._base}", cookie, count=1))
            await send(message)

        return send_with_base
