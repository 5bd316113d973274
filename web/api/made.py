"""The interface as an app of its own, which the server mounts: calls, their document, and the page that shows it."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.responses import HTMLResponse

from web.api import reading, saying
from web.api.calls import Bounded, say_refusals
from web.api.document_page import page_of
from web.problems import TYPE
from workflow.outgoing.for_programs import VERSION

_ABOUT = """Every call sends a token, Authorization: Bearer winnow_...; people make theirs on the page My account.
It has the rights of its person. What is refused is a problem (RFC 9457) in words that say why and what to do."""


class Api(FastAPI):
    """FastAPI's app, whose document says of refusals what they are sent as."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            for call in (call for path in document["paths"].values() for call in path.values()):
                for status, reply in call["responses"].items():
                    if status >= "400":
                        reply["content"] = {TYPE: reply["content"].pop("application/json")}
        return super().openapi()


def make_api() -> FastAPI:
    """A new app."""
    api = Api(
        title="Winnow",
        version=VERSION,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Relative to the document: people may reach Winnow below a path of their proxy.
        servers=[{"url": "../v1"}],
        root_path_in_servers=False,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="The guard has looked at it."))],
    )
    say_refusals(api)
    api.add_middleware(Bounded)
    api.include_router(reading.router)
    api.include_router(saying.router)

    @api.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page_of(api.openapi()))

    return api
