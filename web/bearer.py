"""Which requests are of programs, and the bearer token that these send instead of a cookie (RFC 6750)."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

API = "/api/v1"
"""Where programs ask."""
DOCUMENTS = frozenset({f"{API}/openapi.json", f"{API}/docs"})
"""Addresses that browsers also open: people who are signed in, or programs with a token."""
CALLS_AGAIN = "60"
"""Seconds after which a program that called too often may call again."""
STORE_AGAIN = "5"
"""The same where the store fails."""
NOBODY = (
    "A call sends a token that works: Authorization: Bearer winnow_... This one is missing, unknown or over. Fix: make "
    "one on the page My account."
)
TOO_MANY = "Too many calls within a minute. Nothing was done. Fix: wait a minute, and ask for more at a time."
_SCHEME = "bearer "
_DROPPED = (b"cookie", b"authorization")


def is_of_program(scope: Scope, headers: Headers) -> bool:
    """Whether a token says who asks, and nothing else does."""
    path: str = scope["path"]
    if scope["type"] != "http" or not is_below(path):
        return False
    # A browser says `Basic` to a proxy that asks its people so.
    return path not in DOCUMENTS or headers.get("authorization", "").lower().startswith(_SCHEME)


def is_below(path: str) -> bool:
    """Whether the address is one of the interface, or would be."""
    return path == API or path.startswith(f"{API}/")


def secret_of(headers: Headers) -> str | None:
    """Token of the request; None if it sends none, or several."""
    sent = headers.getlist("authorization")
    if len(sent) != 1 or not sent[0].lower().startswith(_SCHEME):
        return None
    return sent[0][len(_SCHEME) :].strip() or None


def without_secrets(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers behind the guard: neither a cookie, which counts for nothing here, nor the token."""
    return [pair for pair in scope["headers"] if pair[0].lower() not in _DROPPED]
