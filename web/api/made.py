"""The interface as an app of its own, which the server mounts: calls, their document, and the page that shows it."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse

from web.api import reading, saying
from web.api.calls import Bounded, say_refusals
from web.api.document_page import page_of
from workflow.outgoing.for_programs import VERSION

_ABOUT = """Every call sends a token as `Authorization: Bearer winnow_...`; people make theirs on the page *My account*.
It has the rights of its person. What is refused is a problem (RFC 9457) in words that say why and what to do."""


def make_api() -> FastAPI:
    """A new app."""
    api = FastAPI(title="Winnow", version=VERSION, description=_ABOUT, docs_url=None, redoc_url=None)
    say_refusals(api)
    api.add_middleware(Bounded)
    api.include_router(reading.router)
    api.include_router(saying.router)

    @api.get("/docs", include_in_schema=False)
    async def docs(_request: Request) -> HTMLResponse:
        return HTMLResponse(page_of(api.openapi()))

    return api
