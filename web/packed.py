"""Streamlit's own scripts and styles, packed for every browser that takes gzip: a first load is two fifths.

Streamlit sends them as they are, lest the same file is packed for each request; here it is packed once and kept: 7 MB
for all that there are. Their names are made from what is in them, so a browser fetches each once.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.file_util import get_static_dir

PATH = "/static/"
TYPES = {".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "cache-control": "public, immutable, max-age=31536000",  # as Streamlit says of them
    "content-encoding": "gzip",
    "vary": "accept-encoding",
}
_KEPT: dict[Path, bytes] = {}


class Packed:
    """ASGI middleware: answers for Streamlit's scripts and styles where they are asked for whole and may be packed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = files().get(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if path is None or not takes_packed(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        # To have a thread takes longer than all else that is done here.
        content = _KEPT.get(path) or await run_in_threadpool(packed, path)
        await Response(content, headers=HEADERS, media_type=TYPES[path.suffix])(scope, receive, send)


@cache
def files() -> dict[str, Path]:
    """{address: file} of those that there are; no other is ever opened."""
    folder = Path(get_static_dir(), "static")
    return {
        f"{PATH}{path.relative_to(folder).as_posix()}": path
        for path in folder.rglob("*")
        if path.suffix in TYPES and path.is_file()
    }


def packed(path: Path) -> bytes:
    """The file packed, once."""
    if path not in _KEPT:
        _KEPT[path] = gzip.compress(path.read_bytes(), mtime=0)
    return _KEPT[path]


def takes_packed(headers: Headers) -> bool:
    """Whether who asks takes it packed. A range of a file is of the file as it is."""
    taken = [one.replace(" ", "").lower() for one in headers.get("accept-encoding", "").split(",")]
    return "gzip" in taken and "range" not in headers
