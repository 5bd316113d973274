"""Conventions of all replies: HEAD for every GET, an ETag and 304, gzip, the next page, all methods of an address."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COMPRESSED_FROM = 2_000
"""Minimum bytes of a body that is compressed: a packet or two."""
_LEVEL = 5
_NOT_COMPRESSED = (
    *DEFAULT_EXCLUDED_CONTENT_TYPES,
    "image/*",
    "application/octet-stream",
    "application/vnd.apache.parquet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
"""Content types that hold compressed data."""
_IN_A_THREAD = 1 << 17
"""Bytes of a body from which on its hash takes a thread: the event loop must not wait."""
_OF_BODY = ("content-length", "content-type", "content-encoding")

JSON = "application/json"
MEDIA_TYPES = {
    ".npz": "application/octet-stream",
    ".csv": "text/csv",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".json": JSON,
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".zip": "application/zip",
}
"""Content types of exported files, by the end of their names. The document has them in this order: generators of
clients read files by the first one that they know."""
LINK = {"Link": {"schema": {"type": "string"}, "description": "The next page, if there is one (RFC 8288)."}}
"""Header of a page of a list in the OpenAPI document."""
BINARY = {"schema": {"type": "string", "format": "binary"}}
"""Content of a file in the OpenAPI document."""


def next_link(query: Mapping[str, int]) -> str:
    """Return the `Link` header (RFC 8288) of the page with this query. Its address is relative, so that it is right
    behind any proxy."""
    return f'<?{urlencode(query)}>; rel="next"'


class Heads:
    """ASGI middleware: answers HEAD like GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


class Compressed(GZipMiddleware):
    """ASGI middleware: gzip for text, if the client accepts it.

    The size of a compressed body could reveal a secret next to text that an attacker sends (BREACH). No reply holds
    one: tokens are in headers, which no other site can send for a user, and no call returns a token.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, COMPRESSED_FROM, _LEVEL, exclude_content_types=_NOT_COMPRESSED)


class Tagged:
    """ASGI middleware: gives every JSON reply to a GET an ETag, and answers 304 if the client has it already. The tag
    is of the body itself: names of people and ids of rows change without an entry of the log. It is weak, since the
    body may be compressed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        start: Message | None = None

        async def send_tagged(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_json(message):
                start = message
                return
            if start is not None:
                head, start = start, None
                if not message.get("more_body"):
                    body = message.get("body", b"")
                    tag = await to_thread.run_sync(_tag, body) if len(body) >= _IN_A_THREAD else _tag(body)
                    head, message = _conditional(head, message, tag, known)
                await send(head)
            await send(message)

        await self._app(scope, receive, send_tagged)


def _is_json(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("content-type") == JSON


def _tag(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=16).hexdigest()}"'


def _conditional(head: Message, body: Message, tag: str, known: str) -> tuple[Message, Message]:
    headers = MutableHeaders(raw=list(head["headers"]))
    headers["etag"] = f"W/{tag}"
    headers.setdefault("cache-control", "private, no-cache")
    if known.strip() != "*" and tag not in known:
        return {**head, "headers": headers.raw}, body
    for name in _OF_BODY:
        del headers[name]
    return {**head, "status": 304, "headers": headers.raw}, {**body, "body": b""}


def describe_conventions(calls: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the ETag of JSON replies to the OpenAPI document. calls : its `paths`, which are changed"""
    for methods in calls.values():
        reply = methods.get("get", {}).get("responses", {}).get("200", {})
        if list(reply.get("content", {})) != [JSON]:
            continue
        reply.setdefault("headers", {})["ETag"] = _ETAG
        methods["get"]["responses"]["304"] = {"description": "Nothing has changed since the reply with this ETag."}
        methods["get"].setdefault("parameters", []).append(_IF_NONE_MATCH)


_ETAG = {"schema": {"type": "string"}, "description": "Identifies this reply, for `If-None-Match`."}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The ETag of an earlier reply: 304 if nothing has changed since.",
}
