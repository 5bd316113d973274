"""Which requests are from programs, and their bearer token, sent instead of a cookie (RFC 6750)."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

API = "/api/v1"
"""Prefix of the API for programs."""
DOCUMENTS = frozenset({f"{API}/openapi.json", f"{API}/docs"})
"""Addresses that browsers also open: for people who are signed in, or programs with a token."""
CALLS_AGAIN = "60"
"""Seconds before a program that called too often may call again."""
STORE_AGAIN = "5"
"""Seconds before a retry if the store fails."""
NOBODY = (
    "A call sends a token that works: Authorization: Bearer winnow_... This one is missing, unknown or expired. Fix: "
    "make "
    "one on the page My account."
)
TOO_MANY = "Too many calls within a minute. Nothing was done. Fix: wait a minute, and ask for more at a time."
_SCHEME = "bearer "
_DROPPED = (b"cookie", b"authorization")
_OF_BROWSERS = (b"origin", b"sec-fetch-site", b"cookie")


def uses_token_only(scope: Scope, headers: Headers) -> bool:
    """Return whether the request authenticates by API token only."""
    path: str = scope["path"]
    if scope["type"] != "http" or not is_below(path):
        return False
    # Browsers send `Basic` to a proxy that requires it.
    return path not in DOCUMENTS or headers.get("authorization", "").lower().startswith(_SCHEME)


def is_below(path: str) -> bool:
    """Return whether the address is below the API's prefix, even if it does not exist."""
    return path == API or path.startswith(f"{API}/")


def secret_of(headers: Headers) -> str | None:
    """Return the token of the request; None if it has none, or several."""
    sent = headers.getlist("authorization")
    if len(sent) != 1 or not sent[0].lower().startswith(_SCHEME):
        return None
    return sent[0][len(_SCHEME) :].strip() or None


def without_secrets(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers passed on behind the guard: without the cookie, which is ignored here, and without
    the token."""
    return [pair for pair in scope["headers"] if pair[0].lower() not in _DROPPED]


class CrossOrigin:
    """ASGI middleware before the guard: lets pages of these sites call the API (CORS). They send a token; cookies
    are ignored there, so that no other site acts for a person who is signed in.

    origins : such as `https://lab.example.org`
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app, self._origins = app, frozenset(origins)
        self._shared = CORSMiddleware(
            self._as_program,
            allow_origins=self._origins,
            allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("authorization", "content-type", "if-none-match"),
            expose_headers=("etag", "link", "retry-after", "content-disposition", "www-authenticate"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_below(scope["path"]):
            await self._app(scope, receive, send)
        elif Headers(scope=scope).get("origin") in self._origins:
            await self._shared(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _as_program(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on without the headers of browsers, by which the guard would refuse it, and without cookies."""
        headers = [pair for pair in scope["headers"] if pair[0].lower() not in _OF_BROWSERS]
        await self._app({**scope, "headers": headers}, receive, send)
