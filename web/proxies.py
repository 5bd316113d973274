"""Claims of proxies about a request: the person, the client's address, and whether HTTPS was used; from
trusted proxies only."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address, ip_network
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from workflow.server.settings import Settings, SignInSettings

UVICORNS = "FORWARDED_ALLOW_IPS"
"""Variable by which uvicorn itself trusts proxies. It replaces the proxy's address and so hides who really
sent the request; if Winnow has trusted proxies, uvicorn must trust none.
"""


class TrustedProxies:
    """ASGI middleware: drops the header that names the person unless a trusted proxy sent it, and takes
    address and scheme from the headers of trusted proxies (`X-Forwarded-For`, `X-Forwarded-Proto`)."""

    def __init__(self, app: ASGIApp, settings: SignInSettings) -> None:
        self.header = settings.proxy_user_header.encode()
        self.networks = [ip_network(one) for one in settings.trusted_proxies]
        self.untrusted = app
        self.trusted = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(settings.trusted_proxies))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.untrusted(scope, receive, send)
            return
        scope = _as_ipv4(scope)
        if self._is_trusted(scope):
            await self.trusted(scope, receive, send)  # type: ignore[arg-type]
        else:
            kept = [pair for pair in scope["headers"] if pair[0].lower() != self.header]
            await self.untrusted({**scope, "headers": kept}, receive, send)

    def _is_trusted(self, scope: Scope) -> bool:
        try:
            peer = ip_address((scope.get("client") or ("", 0))[0])
        except ValueError:
            return False
        return any(peer in network for network in self.networks)


def _as_ipv4(scope: Scope) -> Scope:
    """Write IPv4 addresses as IPv4: a server that listens to IPv4 and IPv6 reports them as IPv6."""
    host, port = scope.get("client") or ("", 0)
    try:
        found = ip_address(host)
    except ValueError:
        return scope
    mapped = found.ipv4_mapped if found.version == 6 else None
    return scope if mapped is None else {**scope, "client": (str(mapped), port)}


def proxy_user(scope: Scope, settings: SignInSettings) -> str | None:
    """Return the person named by a trusted proxy; None if there is none. A repeated header is ignored: one
    may be forged."""
    if not settings.proxy_user_header:
        return None
    said = [one.strip() for one in Headers(scope=scope).getlist(settings.proxy_user_header)]
    return said[0] if len(said) == 1 and said[0] else None


def keep_uvicorn_out(settings: SignInSettings) -> dict[str, str]:
    """Tell uvicorn to believe no proxy, where Winnow does so; returns the variables that did not say so already."""
    if not settings.trusted_proxies or os.environ.get(UVICORNS) == "":
        return {}
    os.environ[UVICORNS] = ""
    return {UVICORNS: ""}


# The public address of Winnow: a host of its own, or a path such as `/winnow` on a shared host. No other code
# knows that path: it is removed from requests, and added to redirects and to the paths of cookies. Pages use
# relative addresses for files and scripts.

_TLS = {"http": "https", "ws": "wss"}
_COOKIES_PATH = re.compile(r"(?i)(;\s*path=)(?=/)")


class PublicAddress:
    """ASGI middleware for `WINNOW_PUBLIC_URL`; without that setting it changes nothing.

    If the public address is https, a request for its host counts as made with TLS, no matter where TLS ended.
    A proxy may remove the path before it passes a request on, or leave it.
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
            # Addresses are relative: without the slash they would be next to the path.
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
