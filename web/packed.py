"""Streamlit's own scripts and styles, compressed for browsers that accept gzip: this reduces a first load to
two fifths.

Streamlit sends them uncompressed to save work at each request. Here each is compressed once and cached: 7 MB
for all of them. Their names contain a hash of the content, so a browser fetches each only once.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.parts.components import PATH as OWN_PATH
from pages.parts.components import scripts_in

PATH = "/static/"
TYPES = {".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "cache-control": "public, immutable, max-age=31536000",  # as Streamlit sends them
    "content-encoding": "gzip",
    "vary": "accept-encoding",
}
_KEPT: dict[Path, bytes] = {}


class Packed:
    """ASGI middleware: answers requests for Streamlit's scripts and styles, if they are for a whole file and
    accept gzip."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = files().get(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if path is None or not accepts_gzip(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        # Getting a thread takes longer than everything else here.
        content = _KEPT.get(path) or await run_in_threadpool(packed, path)
        await Response(content, headers=HEADERS, media_type=TYPES[path.suffix])(scope, receive, send)


@cache
def files() -> dict[str, Path]:
    """Return {address: file} of existing files; no other is ever opened."""
    folder = Path(get_static_dir(), "static")
    return {
        f"{PATH}{path.relative_to(folder).as_posix()}": path
        for path in folder.rglob("*")
        if path.suffix in TYPES and path.is_file()
    }


def packed(path: Path) -> bytes:
    """Return the compressed file, from the cache if possible."""
    if path not in _KEPT:
        _KEPT[path] = gzip.compress(path.read_bytes(), mtime=0)
    return _KEPT[path]


def accepts_gzip(headers: Headers) -> bool:
    """Return whether the client accepts gzip. A range refers to the uncompressed file."""
    taken = [one.replace(" ", "").lower() for one in headers.get("accept-encoding", "").split(",")]
    return "gzip" in taken and "range" not in headers


# `/scripts/VERSION.js`: the JavaScript modules of the pages in one file, for people who are signed in.

FOLDER = Path(__file__).parents[1] / "pages" / "parts"
ADDRESS = f"{OWN_PATH}/{{version}}.js"
# The address contains a hash of the content, so a copy never expires.
_OWN_HEADERS = {"cache-control": "private, max-age=31536000, immutable", "vary": "accept-encoding"}


async def script(request: Request) -> Response:
    """Return the modules; 404 for a version that is not this server's."""
    scripts = scripts_in(FOLDER)
    if request.path_params["version"] != scripts.version:
        return PlainTextResponse("There is no such script. Load the page again.", status_code=404)
    if accepts_gzip(request.headers):
        headers = {**_OWN_HEADERS, "content-encoding": "gzip"}
        return Response(_own_packed(), media_type="text/javascript", headers=headers)
    return Response(scripts.joined, media_type="text/javascript", headers=_OWN_HEADERS)


@cache
def _own_packed() -> bytes:
    return gzip.compress(scripts_in(FOLDER).joined, mtime=0)


# Websocket messages of pages, checked before Streamlit reads them. Streamlit assumes that a component's
# message is valid JSON. A number of 5,000 digits, or lists a thousand deep, would end its script with a
# traceback; here they are replaced by an invalid press, which is refused with a message like any other
# (`workflow.answering.press`).

NO_PRESS = json.dumps([{"event": "press", "value": "unreadable"}])
_NOTHING = "{}"
MOST = 4_000_000
"""Maximum bytes of a message: a press that names thousands of labels has a hundredth of it. Parsing larger
ones would block all other pages."""
PARTS = 50_000
"""Maximum of lists and objects in it: thousands of points selected in a chart have about two each. Parsing
millions takes seconds and blocks all other pages."""
_TOO_BIG = 1009  # RFC 6455, section 7.4.1


class Readable:
    """ASGI middleware: replaces unreadable websocket messages with NO_PRESS."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        async def receive_readable() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes"):
                if len(message["bytes"]) > MOST:
                    await send({"type": "websocket.close", "code": _TOO_BIG})
                    return {"type": "websocket.disconnect", "code": _TOO_BIG}
                return {**message, "bytes": readable(message["bytes"])}
            return message

        await self._app(scope, receive_readable, send)


def readable(sent: bytes) -> bytes:
    """Return the message unchanged if all of its JSON can be read."""
    message = BackMsg()
    try:
        message.ParseFromString(sent)
    except DecodeError:
        return sent  # Streamlit reports it itself
    changed = False
    for widget in message.rerun_script.widget_states.widgets:
        for part, instead in (("json_trigger_value", NO_PRESS), ("json_value", _NOTHING)):
            if widget.WhichOneof("value") == part and not _can_be_read(getattr(widget, part)):
                setattr(widget, part, instead)
                changed = True
    return message.SerializeToString() if changed else sent


def _can_be_read(text: str) -> bool:
    if has_too_many_parts(text.encode(errors="replace"), PARTS):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def has_too_many_parts(text: bytes | bytearray, most: int) -> bool:
    """Return whether JSON may have more lists and objects than that; brackets inside its texts count as
    well."""
    return text.count(b"[") + text.count(b"{") > most
