"""Signed in or refused, against the real server: HTTP, websocket, links, sign-out, start by `streamlit run`."""

from __future__ import annotations

import asyncio
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import websockets
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import room
from tests.browser.server import START, Server

pytestmark = pytest.mark.browser


def status(address: str, **headers: str) -> int:
    """The HTTP status without following a redirect."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_args: object) -> None:
            return None

    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.build_opener(Stay).open(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def websocket_status(server: Server, cookie: str = "", origin: str | None = None) -> int:
    """101 when the server takes the websocket, else the status it refuses with."""

    async def knock() -> int:
        try:
            async with websockets.connect(
                f"ws://127.0.0.1:{server.port}/_stcore/stream",
                additional_headers={"Cookie": cookie, "X-Winnow-Person": "1"},
                origin=origin or server.base,
                subprotocols=["streamlit"],
                open_timeout=60,
            ):
                return 101
        except websockets.InvalidStatus as refusal:
            return refusal.response.status_code

    # Playwright's loop runs in this thread; a second one needs a thread of its own.
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, knock()).result()


def test_nobody_gets_in_without_a_link(server: Server, context: BrowserContext) -> None:
    assert status(f"{server.base}/", Accept="text/html") == 303
    assert status(f"{server.base}/_stcore/health") == 401
    assert status(f"{server.base}/_stcore/metrics") == 401
    assert status(f"{server.base}/healthz") == 200
    assert websocket_status(server) == 403
    assert websocket_status(server, cookie=f"winnow_signin_{server.port}=forged") == 403
    page = context.new_page()
    page.goto(server.base)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_link_works_once_and_signing_out_ends_it(
    server: Server, context: BrowserContext, page: Page
) -> None:
    secret = next(c["value"] for c in context.cookies() if c["name"] == f"winnow_signin_{server.port}")
    cookie = f"winnow_signin_{server.port}={secret}"
    assert websocket_status(server, cookie) == 101
    assert websocket_status(server, cookie, origin="http://127.0.0.1:9") == 403, "another site's page"
    assert status(server.link) == 403, "the link was used"
    assert "winnow_signin" not in page.evaluate("document.cookie"), "scripts cannot read the cookie"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert websocket_status(server, cookie) == 403
    assert status(f"{server.base}/", Accept="text/html", Cookie=cookie) == 303


def test_an_invited_annotator_answers_beside_the_owner(
    server: Server, context: BrowserContext, page: Page
) -> None:
    page.goto(f"{server.base}/people")
    page.get_by_label("Name of the annotator").fill("Ada")
    room.type_choice(page, page.get_by_role("combobox", name="Share with them"), "Demo")
    page.keyboard.press("Escape")  # the list stays open for more
    page.get_by_role("button", name="Make a sign-in link").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    browser = context.browser
    assert browser is not None
    other = browser.new_context()
    ada = other.new_page()
    ada.goto(link)
    ada.reload()  # looking at an invitation does not use it up
    ada.get_by_role("button", name="Sign in").click()
    ada.get_by_role("heading", name="Projects").wait_for()
    expect(ada.get_by_test_id("stTopNavSection").filter(has_text="Data")).to_have_count(0)
    page.goto(f"{server.base}/annotate")
    ada.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    ada.locator(room.CARD).wait_for()
    assert room.row_id(page) != room.row_id(ada), "one row is not before two people"
    room.answer(ada, ada.locator(".choice .label").first.inner_text())
    room.answer(page, page.locator(".choice .label").first.inner_text())
    expect(page.locator(".counts")).to_contain_text("2 answered")
    ada.goto(f"{server.base}/export")
    expect(ada.get_by_text("This page is the owner's.")).to_be_visible()
    expect(ada.get_by_role("button", name="Prepare file")).to_have_count(0)
    other.close()


def test_the_first_start_makes_the_demo_and_asks_its_first_question(
    context: BrowserContext, tmp_path: Path
) -> None:
    """How long that takes is measured in benchmarks/pages/start.py."""
    server = Server(tmp_path / "home", command=START).start()
    try:
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(".choice").first.wait_for()
    finally:
        server.stop()


def test_streamlit_run_alone_starts_the_same(context: BrowserContext, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    server = Server(tmp_path / "home", command=command).start()
    try:
        assert server.link.startswith(server.base), "WINNOW_PORT counts here, too"
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(room.CARD).wait_for()
    finally:
        server.stop()
