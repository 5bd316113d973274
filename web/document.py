"""The HTML document of every page: Streamlit's, with preload links for what the page will request.

Without the links a browser learns of a page's scripts only when the page arrives by websocket, and of their
imports one after another. With them, the scripts load while Streamlit starts. The document also tells
Streamlit the server's address, which it would otherwise look for below each page's address first, and the
configuration that it would request before it opens its websocket.
"""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from streamlit.file_util import get_static_dir

from pages.parts.components import scripts_in
from web.closed import FRAMED_BY
from web.guard import PERSON_HEADER, seat_of
from web.operating.connections import PAGES_A_PERSON, open_pages
from web.packed import FOLDER, accepts_gzip
from web.signin_page import page as plain_page
from workflow.access import NotAllowed
from workflow.people import members
from workflow.saving import STORE_FAULTS

START = ""
"""The address of the start page."""
OF_A_PROJECT = (
    "annotate",
    "queue",
    "progress",
    "map",
    "review",
    "disputes",
    "team",
    "models",
    "suggest",
    "export",
    "settings",
)
"""Addresses of pages about one project, which have a box to choose another."""
PAGES = (*OF_A_PROJECT, "import", "people", "audit", "backups", "account", "home", "start")
"""Addresses of pages. Access is checked when the page is drawn."""

ALWAYS = ("BidiComponent", "Html")
NEEDED = {
    START: ("Button", "ImageList"),
    "queue": ("TextInput", "Selectbox", "DownloadButton"),
    "progress": ("Metric", "PlotlyChart", "Button", "DownloadButton"),
    "map": ("Radio", "Multiselect", "PlotlyChart", "DownloadButton"),
    "review": ("TextInput", "Selectbox", "ButtonGroup", "DownloadButton"),
    "models": ("Button", "Checkbox"),
    "suggest": ("TextInput", "TextArea", "Button"),
    "export": ("TextInput", "ButtonGroup", "Button", "DataFrame"),
    "people": ("TextInput", "Selectbox", "Multiselect", "Button"),
    "audit": ("Selectbox", "DateInput", "DataFrame", "DownloadButton", "PageLink"),
    "backups": ("Button",),
    "settings": ("TextInput", "TextArea", "Selectbox", "NumberInput", "Checkbox", "Radio", "DataFrame", "Button"),
    "account": ("TextInput", "Button"),
}
"""Scripts of a page in addition to ALWAYS and our modules: names of Streamlit's scripts without their hash.
Their imports are found automatically."""

CHOOSING = {START: (4, ("TextInput", "Selectbox")), **dict.fromkeys(OF_A_PROJECT, (2, ("MenuButton",)))}
"""Number of projects from which a page has widgets to choose among them, and Streamlit's scripts for
these."""

_FOLDER = Path(get_static_dir())
_STREAMLITS = _FOLDER / "static" / "js"
# Streamlit opens its websocket at once if its configuration is already in the document. That requires a site
# that may frame it: this one cannot exist (RFC 2606).
_HOST = json.dumps({**FRAMED_BY, "allowedOrigins": ["https://nobody.invalid"]})
_TOLD = (
    '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.baseURI).href, '
    f"HOST_CONFIG: {_HOST} }};</script>"
)
TOO_MANY_PAGES = (
    f"One person can have {PAGES_A_PERSON} pages of Winnow open. Fix: close one in another tab or window, then load "
    "this page again. If you have fewer open, many other people do: try again in a minute."
)


async def show(request: Request) -> Response:
    """Return the document of a page; 429 with a message if this person, or all together, have too many
    open."""
    if not open_pages.may_open(int(request.headers.get(PERSON_HEADER, "0"))):
        return plain_page("Too many pages are open", TOO_MANY_PAGES, status=429)
    page = request.url.path.rpartition("/")[2]
    chooses = page in CHOOSING and await run_in_threadpool(_projects_of, request) >= CHOOSING[page][0]
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if accepts_gzip(request.headers):
        packed = _packed(page, chooses=chooses)
        return Response(packed, headers={**headers, "content-encoding": "gzip"}, media_type="text/html")
    return Response(document(page, chooses=chooses), headers=headers, media_type="text/html")


def _projects_of(request: Request) -> int:
    """Return how many projects the person can choose among; 0 if that cannot be read, which the page will
    report."""
    with suppress(NotAllowed, *STORE_FAULTS):
        return members.count_projects(seat_of(request))
    return 0


@cache
def document(page: str, *, chooses: bool = False) -> str:
    """Return the document of this page, one of PAGES or START. chooses : whether there are projects to choose
    among"""
    begun, head, rest = (_FOLDER / "index.html").read_text("utf-8").partition("</head>")
    named = [f"./{address}" for address in needed(page, chooses=chooses) if address not in begun]
    # At the end and with low priority, so that they do not delay Streamlit's own start.
    links = [f'<link rel="modulepreload" crossorigin fetchpriority="low" href="{one}">' for one in named]
    named_there = "\n    ".join([begun.rstrip(), _TOLD, *links]) + f"\n  {head}{rest}"
    before, body, end = named_there.rpartition("</body>")
    return f"{before}{_style()}{body}{end}"  # later styles take precedence


@cache
def _style() -> str:
    """Return the style sheet of all pages: within the document it is there before anything is drawn."""
    return f"<style>\n{(FOLDER / 'style.css').read_text('utf-8')}</style>\n"


@cache
def _packed(page: str, *, chooses: bool) -> bytes:
    return gzip.compress(document(page, chooses=chooses).encode(), mtime=0)


def needed(page: str, *, chooses: bool = False) -> list[str]:
    """Return the addresses, relative to the page's, of its scripts and of all that they import."""
    more = CHOOSING[page][1] if chooses else ()
    first, last = ([streamlits(name) for name in names] for names in ((*ALWAYS, *NEEDED.get(page, ())), more))
    return list(dict.fromkeys(chain(*first, [scripts_in(FOLDER).address], *last)))


@cache
def streamlits(name: str) -> tuple[str, ...]:
    """Return the addresses of one of Streamlit's scripts and of all that it imports. name : without its hash

    Raises ValueError: Streamlit has not exactly one script of this name.
    """
    (found,) = (path.name for path in _STREAMLITS.glob(f"{name}.*.js"))
    left, seen = [found], dict.fromkeys([found])
    while left:
        parts = (_STREAMLITS / left.pop()).read_text("utf-8").split('"./')  # faster than a pattern: they are megabytes
        for before, after in pairwise(parts):
            one = after.partition('"')[0]
            if one not in seen and before.endswith(("from", "import")):
                seen[one] = None
                left.append(one)
    return tuple(f"static/js/{one}" for one in seen)


# `/app/manifest.webmanifest` and `/app/icon-SIZE.png`: requested by a browser that installs a page as an app.
# Neither contains personal data; both are for everyone who is signed in, like the pages that name them.

PATH = "/app"
MANIFEST_TYPE = "application/manifest+json"
SIZES = (192, 512)
"""Width of an icon in pixels, as Android and desktops need; the larger one is for the splash screen."""

_ICONS = Path(__file__).with_name("icons")
_CACHE = "private, max-age=86400"
_ADDRESSES = {f"icon-{size}.png": _ICONS / f"{size}.png" for size in SIZES}
# The logo fits into a round mask, so that one image serves with and without a mask.
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
"""Addresses are relative to its own, so that they work below any path of a proxy."""


def manifest(_request: Request) -> Response:
    return JSONResponse(MANIFEST, media_type=MANIFEST_TYPE, headers={"cache-control": _CACHE})


def icon(request: Request) -> Response:
    """Return the icon of this name; 404 for another one."""
    file = _ADDRESSES.get(f"icon-{request.path_params['size']}.png")
    if file is None:
        return PlainTextResponse("There is no such icon.", status_code=404)
    return FileResponse(file, media_type="image/png", headers={"cache-control": _CACHE})
