"""Security headers on every HTTP response, no matter who made it."""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.document import START, document


def hashes_of(document: str) -> list[str]:
    """The sources by which a policy allows the scripts that are in this document, and no other one there."""
    inline = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in inline]


# Files of Streamlit 1.67 next to this server's own: the inline scripts of the document, modules from blob:
# addresses (components), styles written as pages are drawn. Nothing makes a script of text: Plotly would for WebGL, and
# Vega would, neither of which pages use. No one may frame Winnow.
_INLINE = hashes_of(document(START))
_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        " ".join(("script-src 'self' blob:", *_INLINE)),
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "frame-src 'none'",
        "object-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)

HEADERS = {
    "content-security-policy": _CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: with it browsers send "Origin: null" on our own forms, and the guard would refuse them.
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware: sets `HEADERS` on HTTP responses and leaves websockets alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)
