"""`/app/manifest.webmanifest` and `/app/icon-SIZE.png`: what a browser asks of a page that is put among its apps.

Neither says anything of anybody; they are for whoever is signed in, as the pages that name them.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response

PATH = "/app"
MANIFEST_TYPE = "application/manifest+json"
SIZES = (192, 512)
"""Points that an icon is wide: what Android and desktops ask for, the larger one for the screen while it starts."""

_ICONS = Path(__file__).with_name("icons")
_CACHE = "private, max-age=86400"
_ADDRESSES = {f"icon-{size}.png": _ICONS / f"{size}.png" for size in SIZES}
# The mark stands within what a round mask leaves of its ground, so that one picture serves with and without.
MANIFEST = {
    "name": "Winnow",
    "short_name": "Winnow",
    "description": "Turns ambiguous labels into exact ones with the fewest questions.",
    "start_url": "../",
    "scope": "../",
    "display": "standalone",
    "background_color": "#ffffff",
    "theme_color": "#0f6b5e",
    "icons": [
        {"src": f"icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
        for size in SIZES
        for purpose in ("any", "maskable")
    ],
}
"""Its addresses are from its own, so that they hold below any path at which people reach Winnow."""


def manifest(_request: Request) -> Response:
    return JSONResponse(MANIFEST, media_type=MANIFEST_TYPE, headers={"cache-control": _CACHE})


def icon(request: Request) -> Response:
    """The icon of this name; 404 for another one."""
    file = _ADDRESSES.get(f"icon-{request.path_params['size']}.png")
    if file is None:
        return PlainTextResponse("There is no such icon.", status_code=404)
    return FileResponse(file, media_type="image/png", headers={"cache-control": _CACHE})
