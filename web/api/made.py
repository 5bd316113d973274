"""The HTTP API as a separate app that the server mounts: calls, their OpenAPI document, and a page that shows
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.responses import HTMLResponse

from web.api import exports, files, managing, reading, sent, suggestions
from web.api.calls import Bounded, install_error_handlers, refuse_unknown
from web.api.conventions import Compressed, Heads, Tagged, describe_conventions
from web.problems import TYPE
from workflow import kinds
from workflow.exporting.for_programs import VERSION

# The OpenAPI document as a page: plain HTML, without scripts or external content.

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid #8888; padding-top: 1rem; font-size: 1.15rem; }
h2 code { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
"""


def page_of(document: Mapping[str, Any]) -> str:
    """Return the page. document : as in OpenAPI 3.1"""
    title = escape(document["info"]["title"])
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}: the interface for programs</title><style>{_STYLE}</style></head><body><main>",
            f"<h1>{title}: the interface for programs</h1>",
            f"<p>{escape(document['info'].get('description', ''))}</p>",
            '<p><a href="openapi.json">The same as OpenAPI</a>, for programs that make clients of it.</p>',
            *_calls(document),
            *_schemas(document),
            "</main></body></html>",
        )
    )


def _calls(document: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            yield f"<h2><code>{method.upper()} /api/v1{escape(path)}</code></h2><p>{escape(call['summary'])}."
            yield f" {escape(call.get('description', ''))}</p>"
            rows = [
                (one["name"], one["in"], _type(one["schema"]), one.get("description", ""))
                for one in call.get("parameters", ())
            ]
            body = call.get("requestBody", {}).get("content", {}).get("application/json")
            if body is not None:
                rows.append(("body", "JSON", _type(body["schema"]), ""))
            yield from _table(("sent", "where", "what", ""), rows)
            yield from _table(
                ("status", "what", ""),
                [(code, _reply(one), one["description"]) for code, one in call["responses"].items()],
            )


def _reply(response: Mapping[str, Any]) -> str:
    """Return the first available form of the reply."""
    for kind, content in response.get("content", {}).items():
        return _type(content["schema"]) if "schema" in content else kind
    return ""


def _schemas(document: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema:
            yield f'<h2 id="{escape(name)}"><code>{escape(name)}</code></h2>'
            yield f"<p>{escape(schema.get('description', ''))}</p>"
            yield from _table(
                ("field", "what", ""),
                [(key, _type(one), one.get("description", "")) for key, one in schema["properties"].items()],
            )


def _type(schema: Mapping[str, Any]) -> str:
    """Describe a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several])
    if "enum" in schema or "const" in schema:
        return " or ".join(map(repr, schema.get("enum", [schema.get("const")])))
    if schema.get("format") == "binary":
        return "file"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


def _table(head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield f"<table><thead><tr>{''.join(f'<th>{one}</th>' for one in head)}</tr></thead><tbody>"
        for row in rows:
            first, *rest = row
            cells = "".join(f"<td>{escape(one)}</td>" for one in rest)
            yield f"<tr><td><code>{escape(first)}</code></td>{cells}</tr>"
        yield "</tbody></table>"


_ABOUT = """Every call sends a token, Authorization: Bearer winnow_...; people make theirs on the page My account.
It has the rights of its person, or is narrowed to reading, to answering, or to some projects. A refusal is a problem
(RFC 9457) whose text says why and what to do."""


class Api(FastAPI):
    """FastAPI's app, with the content type of refusals corrected in its document."""

    def openapi(self) -> dict[str, object]:
        if self.openapi_schema is None:
            document = super().openapi()
            # Kinds of project are looked up when someone asks: a program may have added one.
            document["components"]["schemas"]["ListedProject"]["properties"]["kind"]["enum"] = list(kinds.KINDS)
            describe_conventions(document["paths"])
            for call in (call for path in document["paths"].values() for call in path.values()):
                for status, reply in call["responses"].items():
                    if status >= "400":
                        reply["content"] = {TYPE: reply["content"].pop("application/json")}
        return super().openapi()


def make_api() -> FastAPI:
    """Return a new app."""
    api = Api(
        title="Winnow",
        version=VERSION,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Relative to the document: a proxy may serve Winnow below a path.
        servers=[{"url": "../v1"}],
        root_path_in_servers=False,
        dependencies=[
            Depends(HTTPBearer(auto_error=False, description="Checked by the guard.")),
            Depends(refuse_unknown),
        ],
        generate_unique_id_function=lambda route: route.name,
    )
    install_error_handlers(api)
    for middleware in (Bounded, Tagged, Compressed, Heads):  # each one wraps the previous ones
        api.add_middleware(middleware)
    api.state.routers = (
        reading.router,
        exports.reads,
        sent.router,
        files.router,
        managing.router,
        managing.reads,
        exports.router,
        suggestions.reads,
        suggestions.router,
    )
    for router in api.state.routers:
        api.include_router(router)

    @api.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page_of(api.openapi()))

    return api
