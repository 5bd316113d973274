"""`/signin` turns a link, a name with a password, or a trusted proxy's header into a cookie; `/signout` ends
it."""

from __future__ import annotations

import asyncio
from html import escape
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from web.operating.connections import WHOLE_WITHIN
from web.proxies import proxy_user
from web.signin_page import cookie_of, page, signed_in_answer, signed_out_answer, visit_of
from workflow.people import browsers, elsewhere, passwords, team
from workflow.people.passwords import note_refused
from workflow.saving import NotSaved
from workflow.server.home import home

# Small forms that strangers may post: at most a few kilobytes are read.

MOST_BYTES = 8_192
_TYPE = "application/x-www-form-urlencoded"


class FormError(ValueError):
    """The posted data is not one of our forms, or too large. status : of the reply"""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields by name; if a name is repeated, the first. At most 8 KiB are read.

    Raises FormError if it is larger, not the type of a browser's plain form, or not complete within
    WHOLE_WITHIN.
    """
    if request.headers.get("content-type", _TYPE).partition(";")[0].strip().lower() != _TYPE:
        raise FormError("This is not the form of this page. Fix: load the page again.", 415)
    read = bytearray()
    try:
        async with asyncio.timeout(WHOLE_WITHIN):  # single slow bytes would hold the connection for ever
            async for chunk in request.stream():
                read += chunk
                if len(read) > MOST_BYTES:
                    raise FormError("The form is too large. Fix: load the page again.", 413)
    except TimeoutError as error:
        words = f"The form did not arrive within {WHOLE_WITHIN:.0f} s. Fix: send it again."
        raise FormError(words, 408) from error
    try:
        pairs = parse_qsl(read.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError as error:  # not UTF-8, or too many fields
        raise FormError("The form cannot be read. Fix: load the page again.", 400) from error
    return dict(reversed(pairs))


_HOW_TO_GET_A_LINK = (
    "<section><p>The first time, you sign in with a link that works once.</p>"
    "<p>If you started Winnow: open the link printed in the terminal. <code>winnow link</code>, in Winnow's folder "
    "<code>.venv/bin/python cli.py link</code>, prints a new one.</p>"
    "<p>Everyone else: ask the owner of this Winnow for a link.</p></section>"
)
_PASSWORD_FORM = (
    '<section><form method="post" action="signin">'
    '<label>Name<input name="name" autocomplete="username" required maxlength="80"></label>'
    '<label>Password<input name="password" type="password" autocomplete="current-password" required '
    f'maxlength="{passwords.MOST}"></label>'
    '<button type="submit">Sign in</button></form>'
    "<p>You can set a password under <i>My account</i> after you sign in.</p></section>"
)
_BY_OPENID = '<section><p><a class="button" href="signin/openid">Sign in with your organisation</a></p></section>'
_GO_ON = '<p>If this browser is signed in already: <a href="./">open Winnow</a>.</p>'
_LINK_FORM = (
    "<p>This link works once. Your browser then stays signed in for two weeks.</p>"
    '<form method="post" action="signin"><input type="hidden" name="link" value="{link}">'
    '<button type="submit">Sign in</button></form>'
)
_SIGN_OUT_FORM = '<form method="post" action="signout"><button type="submit">Sign out</button></form>'
_HAS_ENDED = (
    "This browser was signed out: here or in another window, by you or by the owner. Your last answer was not saved; "
    "all earlier ones were."
)
_MANY_LINKS = (
    "Too many links that do not work were opened from this address. Wait five minutes, then open yours again: it still "
    "works."
)
_HAS_LEFT = "You are signed out."


async def signin(request: Request) -> Response:
    """Sign a browser in and redirect to the start page, or show the ways to sign in.

    The link printed in the terminal signs in at once. An invitation shows a button that posts: mail and chat
    programs open links for previews, and must not use one up.
    """
    try:
        form = await read_form(request) if request.method == "POST" else None
    except FormError as error:
        return _ways("Not signed in", error, status=error.status)
    link = request.query_params.get("link") if form is None else form.get("link")
    try:
        if form is not None and link is None:
            return await _by_password(request, form)
        if request.method == "HEAD" or (link is None and "left" in request.query_params):
            return _ways("Sign in", _HAS_LEFT if "left" in request.query_params else "")
        if link is not None:
            return await _by_link(request, link)
        return await _by_proxy(request)
    except NotSaved as error:
        return page("Not signed in", f"{error} {'The link still works.' if link is not None else ''}", status=503)


async def _by_link(request: Request, link: str) -> Response:
    attempts, address = home().attempts, visit_of(request).address
    if wait := attempts.must_wait_for_links(address):
        return _later(_ways("This link was not checked", _MANY_LINKS, status=429), wait)
    try:
        invited = await run_in_threadpool(team.read_link_name, home(), link)
        if invited is not None and request.method != "POST":
            return page(f"Sign in as {invited}", "", _LINK_FORM.format(link=escape(link)))
        secret = await run_in_threadpool(team.redeem_link, home(), link, visit_of(request))
    except team.LinkError as error:
        attempts.link_failed(address)
        about = await run_in_threadpool(team.person_of_link, home(), link)
        await run_in_threadpool(note_refused, home(), "link does not work", visit_of(request), about)
        return _ways("This link does not work", error, _GO_ON, status=403)
    return signed_in_answer(request, secret)


async def _by_password(request: Request, form: dict[str, str]) -> Response:
    name, password = form.get("name", ""), form.get("password", "")
    try:
        secret = await run_in_threadpool(passwords.sign_in_by_password, home(), name, password, visit_of(request))
    except passwords.WrongPassword as error:
        return _ways("Not signed in", error, status=403)
    except passwords.TooManyAttempts as error:
        return _later(_ways("Not signed in", error, status=429), error.wait)
    return signed_in_answer(request, secret)


async def _by_proxy(request: Request) -> Response:
    """Sign in the person named by a trusted proxy; if there is none, show the other ways."""
    user = proxy_user(request.scope, home().settings.sign_in)
    if user is None or "ended" in request.query_params:
        return _ways("Sign in", _HAS_ENDED if "ended" in request.query_params else "")
    try:
        secret = await run_in_threadpool(
            elsewhere.sign_in_by_proxy, home(), user, visit_of(request), cookie_of(request)
        )
    except elsewhere.NotKnown as error:
        await run_in_threadpool(note_refused, home(), "not known here", visit_of(request))
        return page("Not signed in", error, status=403)
    return signed_in_answer(request, secret)


async def signout(request: Request) -> Response:
    """POST: ends the sign-in (the guard has refused other sites). GET: a page with the button that posts."""
    if request.method != "POST":
        return page("Sign out", "", _SIGN_OUT_FORM)
    secret = cookie_of(request)
    if secret is not None:
        try:
            await run_in_threadpool(browsers.sign_out, home(), secret, visit_of(request))
        except NotSaved as error:
            return page("Still signed in", error, _SIGN_OUT_FORM, status=503)
    return signed_out_answer(request)


def _later(response: Response, seconds: int) -> Response:
    """Add the time of the next possible retry to a response, for programs."""
    response.headers["retry-after"] = str(seconds)
    return response


def _ways(title: str, words: str | Exception, body: str = "", status: int = 200) -> Response:
    """Return a page with the ways to sign in available here."""
    by_openid = _BY_OPENID if home().settings.sign_in.oidc_issuer else ""
    return page(title, words, body + by_openid + _PASSWORD_FORM + _HOW_TO_GET_A_LINK, status)
