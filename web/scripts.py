"""`/scripts/VERSION/NAME`: the JavaScript modules that lie beside the pages, for people who are signed in."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from workflow.common.scripts import PATH, scripts_in

FOLDER = Path(__file__).parents[1] / "pages" / "parts"
ADDRESS = f"{PATH}/{{version}}/{{name:path}}"

# The address is made from the content, so a copy is good for ever.
_CACHE = "private, max-age=31536000, immutable"


async def script(request: Request) -> Response:
    """The module; 404 for another name, or a version that is not this server's."""
    scripts = scripts_in(FOLDER)
    content = scripts.contents.get(request.path_params["name"])
    if content is None or request.path_params["version"] != scripts.version:
        return PlainTextResponse("There is no such script. Load the page again.", status_code=404)
    return Response(content, media_type="text/javascript", headers={"cache-control": _CACHE})
