"""What pages send by their websocket, read once before Streamlit reads it.

Streamlit takes what a component has sent for JSON that can be read. A number of 5,000 digits, or lists a thousand deep,
end its script with a traceback instead; here they become a press that is none, which is refused in words where every
press is read (`workflow.common.pressed`).
"""

from __future__ import annotations

import json

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

NO_PRESS = json.dumps([{"event": "press", "value": "unreadable"}])
_NOTHING = "{}"
MOST = 4_000_000
"""Bytes of a message: a press that names thousands of labels has a hundredth of it. Larger ones would hold up everybody
while they are read."""
PARTS = 50_000
"""Lists and objects in it: thousands of points chosen in a chart have about two each. Reading millions takes seconds in
which nobody else is heard."""
_TOO_BIG = 1009  # RFC 6455, section 7.4.1


class Readable:
    """ASGI middleware: of a websocket's messages, puts NO_PRESS in the place of what cannot be read."""

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
    """The message as it came where all of its JSON can be read."""
    message = BackMsg()
    try:
        message.ParseFromString(sent)
    except DecodeError:
        return sent  # Streamlit says so itself
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
    """Whether JSON may have more lists and objects than that; brackets in its texts count as well."""
    return text.count(b"[") + text.count(b"{") > most
