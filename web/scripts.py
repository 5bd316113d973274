"""`/scripts/VERSION.js`: the JavaScript modules that are next to the pages, as one, for people who are signed in."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from pages.parts.components import PATH, scripts_in
from web.packed import takes_packed

FOLDER = Path(__file__).parents[1] / "pages" / "parts"
ADDRESS = f"{PATH}/{{version}}.js"

# The address is made from the content, so a copy is good for ever.
_HEADERS = {"cache-control": "private, max-age=31536000, immutable", "vary": "accept-encoding"}


async def script(request: Request) -> Response:
    """The modules; 404 for a version that is not this server's."""
    scripts = scripts_in(FOLDER)
    if request.path_params["version"] != scripts.version:
        return PlainTextResponse("There is no such script. Load the page again.", status_code=404)
    if takes_packed(request.headers):
        headers = {**_HEADERS, "content-encoding": "gzip"}
        return Response(_packed(), media_type="text/javascript", headers=headers)
    return Response(scripts.joined, media_type="text/javascript", headers=_HEADERS)


@cache
def _packed() -> bytes:
    return gzip.compress(scripts_in(FOLDER).joined, mtime=0)
