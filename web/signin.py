"""`/signin` turns a one-time link into a cookie; `/signout` ends it."""

from __future__ import annotations

from html import escape

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from web.guard import cookie_name
from workflow.home import home
from workflow.people import team
from workflow.saving import NotSaved

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Winnow</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }}
main {{ max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem; }}
h1 {{ font-size: 1.6rem; }}
button {{ font: inherit; padding: .5rem 1.2rem; }}
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

_HOW_TO_SIGN_IN = (
    "<p>Winnow lets people in by a link that works once.</p>"
    "<p>If you started Winnow: open the link printed in the terminal. <code>winnow link</code>, in Winnow's folder "
    "<code>.venv/bin/python cli.py link</code>, prints a new one.</p>"
    "<p>Everybody else: ask the owner of this Winnow for a link.</p>"
)
_GO_ON = '<p>If this browser is signed in already: <a href="/">open Winnow</a>.</p>'
_SIGN_IN_FORM = (
    "<p>This link works once. Your browser then stays signed in for two weeks.</p>"
    '<form method="post" action="/signin"><input type="hidden" name="link" value="{link}">'
    '<button type="submit">Sign in</button></form>'
)
_SIGN_OUT_FORM = '<form method="post" action="/signout"><button type="submit">Sign out</button></form>'


async def signin(request: Request) -> Response:
    """Turn a link into a cookie and go to the start page; without a link: say how to get one.

    The link printed in the terminal signs in at once. An invitation shows a button that posts: mail and chat
    programs open links to look at them, and must not use one up.
    """
    secret: str | None
    if request.method == "POST":
        secret = str((await request.form()).get("link", ""))
    else:
        secret = request.query_params.get("link")
    if secret is None or request.method == "HEAD":
        return _page("Sign in", _HOW_TO_SIGN_IN)
    try:
        invited = await run_in_threadpool(team.look_at_link, home(), secret)
        if invited is not None and request.method != "POST":
            return _page(f"Sign in as {escape(invited)}", _SIGN_IN_FORM.format(link=escape(secret)))
        sign_in = await run_in_threadpool(team.redeem_link, home(), secret)
    except team.LinkError as error:
        return _page(
            "This link does not work", f"<p>{escape(str(error))}</p>{_GO_ON}{_HOW_TO_SIGN_IN}", status=403
        )
    except NotSaved as error:
        return _page("Not signed in", f"<p>{escape(str(error))} The link still works.</p>", status=503)
    response = RedirectResponse("/", status_code=303, headers={"cache-control": "no-store"})
    response.set_cookie(
        cookie_name(request.scope),
        sign_in,
        max_age=int(team.SIGN_IN_LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


async def signout(request: Request) -> Response:
    """POST: ends the sign-in (the guard has refused other sites). GET: a page with the button that posts."""
    if request.method != "POST":
        return _page("Sign out", _SIGN_OUT_FORM)
    secret = request.cookies.get(cookie_name(request.scope))
    if secret is not None:
        try:
            await run_in_threadpool(team.sign_out, home(), secret)
        except NotSaved as error:
            return _page("Still signed in", f"<p>{escape(str(error))}</p>{_SIGN_OUT_FORM}", status=503)
    response = RedirectResponse("/signin", status_code=303, headers={"cache-control": "no-store"})
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="lax")
    return response


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(
        _PAGE.format(title=title, body=body), status_code=status, headers={"cache-control": "no-store"}
    )
