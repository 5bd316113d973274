"""From where a request comes: what the audit and the list of signed-in browsers say of it."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from workflow.people.browsers import Visit, browser_words


def visit_of(request: HTTPConnection) -> Visit:
    """The address and the kind of browser. Behind a trusted proxy the address is the one the proxy names."""
    address = request.client.host if request.client else ""
    return Visit(address, browser_words(request.headers.get("user-agent", "")))
