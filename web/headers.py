"""Security headers on every HTTP response of every route."""

from __future__ import annotations

import base64
import hashlib
import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.document import START, document


def hashes_of(document: str) -> list[str]:
    """Return the policy sources that allow exactly the scripts in this document."""
    inline = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in inline]


# Streamlit 1.67 needs these in addition to this server's files: the document's inline scripts, modules from blob:
# addresses (components), styles written as pages are drawn. No script is made from text: only Plotly's WebGL
# charts and Vega would do so, and pages use neither. No site may frame Winnow.
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
