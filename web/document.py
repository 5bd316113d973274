"""The document of every page: Streamlit's, whose head names what the page will ask for, too.

What a page is drawn with, and our own modules, a browser would learn of when the page comes by its websocket, and what
they import only from them, one after another. Named in the document they come while Streamlit starts. It says where
Streamlit is, too, which would look for it below the address of each page first.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from streamlit.file_util import get_static_dir

from web.packed import takes_packed
from web.scripts import FOLDER
from workflow.common.scripts import scripts_in

START = ""
"""The address of the page that comes without one."""
PAGES = (
    "annotate",
    "queue",
    "progress",
    "map",
    "review",
    "disputes",
    "team",
    "models",
    "export",
    "import",
    "people",
    "audit",
    "backups",
    "settings",
    "account",
    "home",
    "start",
)
"""Addresses of pages. Which page a person may have is asked where it is drawn."""

ALWAYS = ("BidiComponent", "Html", "menu.js", "installing.js")
NEEDED = {
    START: ("Button", "ImageList", "sign_out.js"),
    "annotate": ("*/card.js", "*/class_list.js"),
    "queue": ("TextInput", "Selectbox", "DataFrame"),
    "progress": ("Metric", "PlotlyChart"),
    "map": ("Radio", "Multiselect", "PlotlyChart"),
    "export": ("TextInput", "Radio", "Button", "DataFrame"),
    "settings": ("TextInput", "TextArea", "Selectbox", "NumberInput", "Checkbox", "Radio", "DataFrame"),
}
"""What a page is drawn with beside ALWAYS: Streamlit's scripts, without the hash in their names, and our modules. What
they import is found. Which card a question has is known when it comes, so that those of all kinds are named."""

_FOLDER = Path(get_static_dir())
_STREAMLITS = _FOLDER / "static" / "js"
_IMPORTS = re.compile(r'(?:\bfrom|\bimport)"\./([^"]+)"')
_WHERE = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", document.baseURI).href };</script>'


async def show(request: Request) -> Response:
    page = request.url.path.rpartition("/")[2]
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if takes_packed(request.headers):
        return Response(
            _packed(page), headers={**headers, "content-encoding": "gzip"}, media_type="text/html"
        )
    return Response(document(page), headers=headers, media_type="text/html")


@cache
def document(page: str) -> str:
    """The document of this page, of PAGES or START."""
    begun, head, rest = (_FOLDER / "index.html").read_text("utf-8").partition("</head>")
    named = [f"./{address}" for address in needed(page) if address not in begun]
    # At the end and last in the queue: nothing that Streamlit starts with waits for them.
    links = [f'<link rel="modulepreload" crossorigin fetchpriority="low" href="{one}">' for one in named]
    return "\n    ".join([begun.rstrip(), _WHERE, *links]) + f"\n  {head}{rest}"


@cache
def _packed(page: str) -> bytes:
    return gzip.compress(document(page).encode(), mtime=0)


def needed(page: str) -> list[str]:
    """Addresses, from that of the page, of the scripts that it is drawn with and of all that they import."""
    found: dict[str, None] = {}
    for name in (*ALWAYS, *NEEDED.get(page, ())):
        found.update(dict.fromkeys(_ours(name) if name.endswith(".js") else streamlits(name)))
    return list(found)


def _ours(pattern: str) -> list[str]:
    scripts = scripts_in(FOLDER)
    names = [
        name
        for name in scripts.contents
        if Path(name).match(pattern) and name.count("/") == pattern.count("/")
    ]
    return [scripts.address(one) for name in names for one in scripts.with_imports(name)]


def streamlits(name: str) -> list[str]:
    """Addresses of a script of Streamlit's, and of all that it imports. name : without its hash

    Raises
    ------
    ValueError
        Streamlit has not exactly one script of this name.
    """
    (found,) = (path.name for path in _STREAMLITS.glob(f"{name}.*.js"))
    left, seen = [found], dict.fromkeys([found])
    while left:
        for one in _IMPORTS.findall((_STREAMLITS / left.pop()).read_text("utf-8")):
            if one not in seen:
                seen[one] = None
                left.append(one)
    return [f"static/js/{one}" for one in seen]
