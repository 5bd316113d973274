"""What is believed of proxies: who it is, the address, and whether HTTPS was used; from trusted ones alone."""

from __future__ import annotations

import os
from ipaddress import ip_address, ip_network
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from workflow.settings import SignInSettings

UVICORNS = "FORWARDED_ALLOW_IPS"
"""Variable by which uvicorn believes proxies by itself: the address it puts in the place of the proxy's hides from
where a request really comes, so that it is told to believe none where Winnow asks.
"""


class TrustedProxies:
    """ASGI middleware: drops the header that says who it is unless a trusted proxy sent it, and takes address and
    scheme from what trusted proxies say of them (`X-Forwarded-For`, `X-Forwarded-Proto`).
    """

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
    """A server that listens to IPv4 and IPv6 writes addresses of IPv4 as such of IPv6: here they are what they are."""
    host, port = scope.get("client") or ("", 0)
    try:
        found = ip_address(host)
    except ValueError:
        return scope
    mapped = found.ipv4_mapped if found.version == 6 else None
    return scope if mapped is None else {**scope, "client": (str(mapped), port)}


def proxy_user(scope: Scope, settings: SignInSettings) -> str | None:
    """Whom a trusted proxy says this is; None where none does. Said twice it is not said: one may be a stranger's."""
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
