"""What a page is drawn with is on its way before the page is told of: its document names it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser import room
from tests.browser.server import Server
from tests.workflow.alike_world import alike_project
from web.document import NEEDED, START
from workflow.people import team
from workflow.server.home import Home

pytestmark = pytest.mark.browser

DRAWN = {START: "text=Signed in as", "annotate": room.CARD}
"""What is there once the page is."""
ELSEWHERE = "import"
"""A page whose document names no more than those of all do."""
DEMO = 1
"""The one project of a new Winnow."""
SEVERAL = 4
"""Projects with which Home, too, has boxes to choose by."""

TELL = """(hash) => new Promise((resolve) => {
    window.addEventListener("message", () => resolve(location.hash));
    window.postMessage({ stCommVersion: 1, type: "UPDATE_HASH", hash }, "*");
})"""
"""Tells Streamlit's page of another place in it, as a site that frames it might; resolves to where it is then."""


class NewBrowser:
    """One that has nothing but the sign-in of another page; `asked` is {script: who asked for it}."""

    def __init__(self, browser: Browser, signed_in: Page) -> None:
        self.context = browser.new_context(storage_state=signed_in.context.storage_state())
        self.page = self.context.new_page()
        self.asked: dict[str, str] = {}
        session = self.context.new_cdp_session(self.page)
        session.on("Network.requestWillBeSent", self._note)
        session.send("Network.enable")

    def draws(self, which: str, projects: int) -> None:
        """Returns once the page is drawn with all that it asks for: what comes late has a grey place until then."""
        self.page.locator(DRAWN[which]).first.wait_for()
        expect(self.page.get_by_role("combobox")).to_have_count(int(projects > 1))
        expect(self.page.get_by_test_id("stSkeleton")).to_have_count(0)
        self.page.wait_for_load_state("networkidle")

    def _note(self, one: dict[str, Any]) -> None:
        path = one["request"]["url"].partition("?")[0]
        if path.endswith(".js") and not path.startswith("blob:"):
            self.asked.setdefault(path, one["initiator"]["type"])


@pytest.fixture(params=[1, SEVERAL], ids=["one project", "several"])
def projects(request: pytest.FixtureRequest, home: Home) -> int:
    """How many there are."""
    many: int = request.param
    for number in range(1, many):
        alike_project(home, team.ensure_owner(home).id, f"Numbers {number}", "numbers")
    return many


@pytest.mark.parametrize("which", DRAWN, ids=["home", "annotate"])
def test_the_document_names_what_the_page_is_drawn_with(
    page: Page, server: Server, browser: Browser, projects: int, which: str
) -> None:
    named = NewBrowser(browser, page)
    named.page.goto(f"{server.base}/{which}")  # of the project used last
    named.draws(which, projects)
    links = named.page.eval_on_selector_all("link[rel=modulepreload]", "all => all.map(one => one.href)")
    # Some may be asked for by who needs them before their turn has come.
    assert {one for one, by in named.asked.items() if by != "parser"} <= set(links)
    # A page that is come to from another asks for what it needs itself: so much was named, and no more.
    assert ELSEWHERE not in NEEDED
    asking = NewBrowser(browser, page)
    asking.page.goto(f"{server.base}/{ELSEWHERE}")
    asking.page.locator(f"nav a[href$='/{which}']").first.click()
    asking.draws(which, projects)
    assert set(named.asked) <= set(asking.asked)
    assert "script" in asking.asked.values()
    for one in (named, asking):
        one.context.close()


def test_a_page_is_drawn_before_streamlit_has_asked_how_its_server_is(page: Page, server: Server) -> None:
    """Its websocket is opened at once. And nobody may tell the page what to do, though a site is named that may."""
    held: list[Route] = []
    asked = ("**/_stcore/health", "**/_stcore/host-config")
    for address in asked:
        page.route(address, lambda one: held.append(one))
    with page.expect_request(asked[0]), page.expect_request(asked[1]):
        page.goto(f"{server.base}/annotate?project={DEMO}")
        page.locator(room.CARD).wait_for()
    assert page.evaluate(TELL, "#told") == ""
    while len(held) < len(asked):
        page.wait_for_timeout(20)
    with page.expect_response(asked[1]):
        for one in held:
            one.continue_()
    assert page.evaluate(TELL, "#told") == ""


def test_streamlit_is_looked_for_where_it_is(page: Page, server: Server) -> None:
    """And not below the address of the page first."""
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(f"{server.base}/annotate?project={DEMO}")
    page.locator(room.CARD).wait_for()
    assert f"{server.base}/_stcore/health" in asked
    assert not [one for one in asked if "/annotate/" in one]
