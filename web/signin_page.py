"""The plain pages around signing in, which need no script, and the answer that signs a browser in."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from workflow.home import home
from workflow.people.browsers import SIGN_IN_LIFE

_USUAL_PORT = {"http": 80, "https": 443}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="{base}/">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Winnow</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }}
main {{ max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem; }}
h1 {{ font-size: 1.6rem; }}
label {{ display: block; margin: 0 0 .8rem; }}
input {{ font: inherit; display: block; width: 100%; box-sizing: border-box; padding: .45rem .6rem; }}
button, a.button {{ font: inherit; padding: .5rem 1.2rem; }}
a.button {{ display: inline-block; border: 1px solid; border-radius: .3rem; text-decoration: none; }}
section {{ margin: 0 0 2rem; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title: str, words: str | Exception, body: str = "", status: int = 200) -> HTMLResponse:
    """A page. title, words : plain text, a paragraph
    body : HTML of ours below it, whose links are from the address of the start page
    """
    said = f"<p>{escape(str(words))}</p>" if str(words) else ""
    return HTMLResponse(
        _PAGE.format(base=home().settings.base_path, title=escape(title), body=said + body),
        status_code=status,
        headers={"cache-control": "no-store"},
    )


def cookie_name(scope: Scope, of: str = "signin") -> str:
    """Name of the sign-in cookie. A browser shares cookies among the ports of a host, so the port is part of it: the
    one that people reach Winnow at, with the path, so that it is the same for every server behind one address."""
    public = urlsplit(home().settings.public_url)
    if not public.netloc:
        _host, port = scope.get("server") or ("", 0)
        return f"winnow_{of}_{port}"
    port = public.port or _USUAL_PORT[public.scheme]
    return (
        f"winnow_{of}_{port}{re.sub('[^A-Za-z0-9]', '_', public.path)}"  # nginx has variables of such names
    )


def cookie_of(connection: HTTPConnection) -> str | None:
    """The secret of the sign-in that a browser sends; None where it sends none."""
    return connection.cookies.get(cookie_name(connection.scope))


def signed_in_answer(request: Request, secret: str) -> RedirectResponse:
    """To the start page, with the cookie. Always a fresh one, and always to the same address: nobody chooses either."""
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
    """To the sign-in page, without the cookie."""
    response = RedirectResponse("/signin?left=1", status_code=303, headers={"cache-control": "no-store"})
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="lax")
    return response
