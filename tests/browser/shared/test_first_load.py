"""What a page is drawn with is on its way before the page is told of: its document names it, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser import room
from tests.browser.server import Server

pytestmark = pytest.mark.browser

OTHER_KINDS = re.compile(r"/label_vectors/")
"""The cards of all kinds are named: which one a question has is not known before it comes."""


def asked_for(browser: Browser, signed_in: Page, address: str, drawn: str, *, named: bool) -> dict[str, str]:
    """{script: who asked for it} of a browser that has nothing but its sign-in. drawn : what is there in the end
    named : whether the document names what only Streamlit's does not"""
    context = browser.new_context(storage_state=signed_in.context.storage_state())
    page = context.new_page()
    found: dict[str, str] = {}

    def note(one: dict[str, Any]) -> None:
        path = one["request"]["url"].partition("?")[0]
        if path.endswith(".js") and "blob:" not in path:
            found.setdefault(path, one["initiator"]["type"])

    def plain(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r"<link [^>]*fetchpriority[^>]*>", "", answer.text()))

    if not named:
        page.route(address, plain)
    session = context.new_cdp_session(page)
    session.on("Network.requestWillBeSent", note)
    session.send("Network.enable")
    page.goto(address)
    page.locator(drawn).first.wait_for()
    page.wait_for_load_state("networkidle")
    context.close()
    return found


@pytest.mark.parametrize("name", ["home", "annotate"])
def test_the_document_names_what_the_page_is_drawn_with(
    page: Page, server: Server, digits: int, browser: Browser, name: str
) -> None:
    address, drawn = {
        "home": (f"{server.base}/", "text=Signed in as"),
        "annotate": (f"{server.base}/annotate?project={digits}", f"{room.CARD} .choice"),
    }[name]
    by_itself = asked_for(browser, page, address, drawn, named=False)
    found = asked_for(browser, page, address, drawn, named=True)
    assert "script" in by_itself.values()
    assert set(found.values()) == {"parser"}, [one for one in found if found[one] != "parser"]
    assert {one for one in found if not OTHER_KINDS.search(one)} == set(by_itself)


def test_streamlit_is_looked_for_where_it_is(page: Page, server: Server) -> None:
    """And not below the address of the page first."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{server.base}/annotate?project=1")
    page.locator(room.CARD).wait_for()
    assert f"{server.base}/_stcore/health" in asked
    assert not [one for one in asked if "/annotate/" in one]
