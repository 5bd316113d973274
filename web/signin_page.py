"""The plain pages around signing in, which need no script, and the response that signs a browser in."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from web.packed import FOLDER
from workflow.people.browsers import SIGN_IN_LIFE, Visit, browser_words
from workflow.server.home import home

_USUAL_PORT = {"http": 80, "https": 443}
_MARK = (FOLDER / "logo.svg").read_text("utf-8")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="{base}/">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Winnow</title>
<style>
:root {{ color-scheme: light dark; --page: #ffffff; --sunk: #f4f7f5; --ink: #0f1a18; --quiet: #44534f; --edge: #808a90;
  --brand: #0f6b5e; --link: #0f6b5e; }}
@media (prefers-color-scheme: dark) {{ :root {{ --page: #111718; --sunk: #182021; --ink: #e9efed; --quiet: #b4c1bd;
  --edge: #7d8b97; --brand: #1b7d6c; --link: #6fd0bb; }} }}
body {{ font: 1rem/1.5 "Source Sans 3", "Source Sans Pro", system-ui, "Segoe UI", Roboto, sans-serif; margin: 0;
  background: var(--page); color: var(--ink); }}
main {{ box-sizing: border-box; max-width: 26rem; margin: 12vh auto 3rem; padding: 0 1.5rem; overflow-wrap: anywhere; }}
main > svg {{ display: block; width: 8rem; height: 2rem; margin: 0 0 2rem -.25rem; }}
h1 {{ font-size: 1.375rem; font-weight: 650; line-height: 1.25; margin: 0 0 1rem; }}
p {{ margin: 0 0 .75rem; }}
label {{ display: block; margin: 0 0 1rem; font-size: .875rem; }}
input {{ font: inherit; font-size: 1rem; display: block; width: 100%; box-sizing: border-box;
  margin-top: .25rem; padding: .5rem .75rem; min-height: 2.75rem; border: 1px solid var(--edge); border-radius: 10px;
  background: var(--sunk); color: inherit; }}
button, a.button {{ font: inherit; font-size: 1rem; font-weight: 550; display: block; width: 100%;
  box-sizing: border-box; min-height: 2.75rem; padding: .5rem 1.25rem; text-align: center;
  border: 1px solid var(--brand); border-radius: 10px;
  background: var(--brand); color: #ffffff; text-decoration: none; cursor: pointer; }}
a.button {{ background: none; color: var(--link); border-color: var(--edge); }}
a {{ color: var(--link); }}
:focus-visible {{ outline: 3px solid var(--link); outline-offset: 2px; }}
code {{ font-size: .875em; background: var(--sunk); padding: .1em .3em; border-radius: 4px; }}
section {{ margin: 0 0 2rem; }}
section > p, section + section {{ font-size: .875rem; color: var(--quiet); }}
section > form + p {{ margin-top: .75rem; }}
</style>
</head>
<body>
<main>
{mark}
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, words: str | Exception, body: str = "", status: int = 200) -> HTMLResponse:
    """Return a page. title, words : plain text, a paragraph
    body : our own HTML below it, with links relative to the start page"""
    said = f"<p>{escape(str(words))}</p>" if str(words) else ""
    return HTMLResponse(
        _PAGE.format(base=home().settings.base_path, mark=_MARK, title=escape(title), body=said + body),
        status_code=status,
        headers={"cache-control": "no-store"},
    )


def cookie_name(scope: Scope, of: str = "signin") -> str:
    """Return the name of the sign-in cookie. A browser shares cookies among the ports of a host, so the name
    contains the public port and path, which are the same for every server behind one address."""
    public = urlsplit(home().settings.public_url)
    if not public.netloc:
        _host, port = scope.get("server") or ("", 0)
        return f"winnow_{of}_{port}"
    port = public.port or _USUAL_PORT[public.scheme]
    return f"winnow_{of}_{port}{re.sub('[^A-Za-z0-9]', '_', public.path)}"  # nginx uses such names in variables


def cookie_of(connection: HTTPConnection) -> str | None:
    """Return the sign-in secret that a browser sends; None if it sends none."""
    return connection.cookies.get(cookie_name(connection.scope))


def signed_in_answer(request: Request, secret: str) -> RedirectResponse:
    """Redirect to the start page with the cookie. Secret and target are never the client's choice."""
    response = RedirectResponse("/", status_code=303, headers={"cache-control": "no-store"})
    response.set_cookie(
        cookie_name(request.scope),
        secret,
        max_age=int(SIGN_IN_LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def signed_out_answer(request: Request) -> RedirectResponse:
    """Redirect to the sign-in page, without the cookie."""
    response = RedirectResponse("/signin?left=1", status_code=303, headers={"cache-control": "no-store"})
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="lax")
    return response


# Origin of a request, for the audit and the list of signed-in browsers.


def visit_of(request: HTTPConnection) -> Visit:
    """Return the address and the kind of browser. Behind a trusted proxy the address is the one that the
    proxy names."""
    address = request.client.host if request.client else ""
    return Visit(address, browser_words(request.headers.get("user-agent", "")))
