"""A signed-in browser in words, as owners and its person see it."""

from __future__ import annotations

from datetime import datetime

from pages.parts import frame
from workflow.people.browsers import SignIn

_HOW = {
    "link": "by a link",
    "password": "by a password",
    "openid": "by your organisation",
    "proxy": "by a proxy",
}


def in_words(browser: SignIn, this: int = 0) -> str:
    """Markdown of one browser. this : the number of the sign-in that this page was opened with"""
    name = browser.browser or "A browser"
    here = " · **this one**" if browser.id == this else ""
    facts = [f"signed in {_at(browser.created_at)} {_HOW.get(browser.how, '')}".strip()]
    if browser.last_seen_at is not None:
        facts.append(f"last seen {_at(browser.last_seen_at)}")
    if browser.address:
        facts.append(frame.escape(browser.address))
    return f"**{frame.escape(name)}**{here}  \n{' · '.join(facts)}"


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
