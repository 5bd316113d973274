"""The document of every page: Streamlit's, whose head names what the page will ask for, too.

What a page is drawn with, and our own modules, a browser would learn of when the page comes by its websocket, and what
Streamlit's scripts import only from them, one after another. Named in the document they come while Streamlit starts. It
tells Streamlit where its server is, too, which it would look for below the address of each page first, and what else it
would ask that server before it opens its websocket.
"""

from __future__ import annotations

import gzip
import json
import re
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from streamlit.file_util import get_static_dir

from pages.parts.components import scripts_in
from web.closed import FRAMED_BY
from web.connections import PAGES_A_PERSON, open_pages
from web.guard import PERSON_HEADER
from web.packed import FOLDER, takes_packed
from web.signin_page import page as plain_page
from workflow.access import NotAllowed
from workflow.people import members
from workflow.saving import STORE_FAULTS
from workflow.seat import Seat
from workflow.server.home import home

START = ""
"""The address of the page that comes without one."""
OF_A_PROJECT = (
    "annotate",
    "queue",
    "progress",
    "map",
    "review",
    "disputes",
    "team",
    "models",
    "export",
    "settings",
)
"""Addresses of pages that are about one project, and have a box of all."""
PAGES = (*OF_A_PROJECT, "import", "people", "audit", "backups", "account", "home", "start")
"""Addresses of pages. Which page a person may have is asked where it is drawn."""

ALWAYS = ("BidiComponent", "Html")
NEEDED = {
    START: ("Button", "ImageList"),
    "queue": ("TextInput", "Selectbox", "DownloadButton"),
    "progress": ("Metric", "PlotlyChart", "Button", "DownloadButton"),
    "map": ("Radio", "Multiselect", "PlotlyChart", "DownloadButton"),
    "review": ("TextInput", "Selectbox", "ButtonGroup", "DownloadButton"),
    "models": ("Button", "Checkbox"),
    "export": ("TextInput", "ButtonGroup", "Button", "DataFrame"),
    "people": ("TextInput", "Selectbox", "Multiselect", "Button"),
    "audit": ("Selectbox", "DateInput", "DataFrame", "DownloadButton", "PageLink"),
    "backups": ("Button",),
    "settings": (
        "TextInput",
        "TextArea",
        "Selectbox",
        "NumberInput",
        "Checkbox",
        "Radio",
        "DataFrame",
        "Button",
    ),
    "account": ("TextInput", "Button"),
}
"""Scripts of a page in addition to ALWAYS and our modules: Streamlit's scripts, without the hash in their names. What
they import is found."""

CHOOSING = {START: (4, ("TextInput", "Selectbox")), **dict.fromkeys(OF_A_PROJECT, (2, ("MenuButton",)))}
"""From how many projects on a page has more, to choose among them, and Streamlit's scripts of that."""

_FOLDER = Path(get_static_dir())
_STREAMLITS = _FOLDER / "static" / "js"
_IMPORTS = re.compile(r'(?:\bfrom|\bimport)"\./([^"]+)"')
# Streamlit's page opens its websocket at once if it is told what else it would ask for first. That has to name a
# site that may frame it: this one can be nowhere (RFC 2606).
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
    """The document of a page; 429 in words where the person, or all together, have too many open."""
    if not open_pages.may_open(int(request.headers.get(PERSON_HEADER, "0"))):
        return plain_page("Too many pages are open", TOO_MANY_PAGES, status=429)
    page = request.url.path.rpartition("/")[2]
    chooses = page in CHOOSING and await run_in_threadpool(_projects_of, request) >= CHOOSING[page][0]
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if takes_packed(request.headers):
        packed = _packed(page, chooses=chooses)
        return Response(packed, headers={**headers, "content-encoding": "gzip"}, media_type="text/html")
    return Response(document(page, chooses=chooses), headers=headers, media_type="text/html")


def _projects_of(request: Request) -> int:
    """How many projects the person has to choose among; none where that cannot be read, which the page will say."""
    person = int(request.headers.get(PERSON_HEADER, "0"))  # set by the guard
    with suppress(NotAllowed, *STORE_FAULTS):
        return members.count_projects(Seat(home(), person))
    return 0


@cache
def document(page: str, *, chooses: bool = False) -> str:
    """The document of this page, of PAGES or START. chooses : whether there are projects to choose among"""
    begun, head, rest = (_FOLDER / "index.html").read_text("utf-8").partition("</head>")
    named = [f"./{address}" for address in needed(page, chooses=chooses) if address not in begun]
    # At the end and last in the queue: nothing that Streamlit starts with waits for them.
    links = [f'<link rel="modulepreload" crossorigin fetchpriority="low" href="{one}">' for one in named]
    named_there = "\n    ".join([begun.rstrip(), _TOLD, *links]) + f"\n  {head}{rest}"
    before, body, end = named_there.rpartition("</body>")
    return f"{before}{_style()}{body}{end}"  # what comes behind others' styles counts before them


@cache
def _style() -> str:
    """The style sheet of all pages: with their document it is there before anything is drawn."""
    return f"<style>\n{(FOLDER / 'style.css').read_text('utf-8')}</style>\n"


@cache
def _packed(page: str, *, chooses: bool) -> bytes:
    return gzip.compress(document(page, chooses=chooses).encode(), mtime=0)


def needed(page: str, *, chooses: bool = False) -> list[str]:
    """Addresses, from that of the page, of the scripts that it is drawn with and of all that they import."""
    more = CHOOSING[page][1] if chooses else ()
    first, last = ([streamlits(name) for name in names] for names in ((*ALWAYS, *NEEDED.get(page, ())), more))
    return list(dict.fromkeys(chain(*first, [scripts_in(FOLDER).address], *last)))


def streamlits(name: str) -> list[str]:
    """Addresses of a script of Streamlit's, and of all that it imports. name : without its hash

    Raises ValueError: Streamlit has not exactly one script of this name.
    """
    (found,) = (path.name for path in _STREAMLITS.glob(f"{name}.*.js"))
    left, seen = [found], dict.fromkeys([found])
    while left:
        for one in _IMPORTS.findall((_STREAMLITS / left.pop()).read_text("utf-8")):
            if one not in seen:
                seen[one] = None
                left.append(one)
    return [f"static/js/{one}" for one in seen]


# `/app/manifest.webmanifest` and `/app/icon-SIZE.png`: what a browser asks of a page that is put among its apps.
#
# Neither says anything of anyone; they are for anyone who is signed in, as the pages that name them.

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
