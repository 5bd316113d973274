"""The Content-Security-Policy in a browser: no page meets it, and what it forbids does not happen."""

from __future__ import annotations

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser import room
from tests.browser.server import Server
from web.document import PAGES

pytestmark = pytest.mark.browser


def violations(page: Page) -> list[str]:
    """What the browser says of the policy, from now on."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            found.append(message.text)

    page.on("console", note)
    return found


def test_no_page_meets_it(page: Page, server: Server) -> None:
    found = violations(page)
    for name in PAGES:
        page.goto(f"{server.base}/{name}?project=1")
        page.get_by_test_id("stMain").wait_for()
        expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    page.goto(f"{server.base}/annotate?project=1")
    page.locator(room.CARD).wait_for()
    assert found == []


def test_no_chart_meets_it(page: Page, server: Server, digits: int) -> None:
    found = violations(page)
    room.annotate(page, server, digits)
    for _ in range(3):
        room.press(page, "1")
    for name in ("progress", "map"):
        page.goto(f"{server.base}/{name}?project={digits}")
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert found == []


@pytest.mark.parametrize(
    "script",
    [
        "const s = document.createElement('script'); s.textContent = 'window.hurt = 1'; document.body.append(s);",
        "const d = document.createElement('div'); d.innerHTML = '<b onclick=\"window.hurt = 1\">b</b>';"
        " document.body.append(d); d.firstChild.click();",
        "setTimeout('window.hurt = 1')",
    ],
)
def test_text_becomes_no_script(page: Page, server: Server, script: str) -> None:
    page.goto(f"{server.base}/home")
    page.get_by_test_id("stMain").wait_for()
    with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        page.evaluate(f"() => {{ {script} }}")
    assert page.evaluate("window.hurt") is None


@pytest.mark.parametrize(
    "script",
    [
        "fetch('http://127.0.0.1:1/x').then(() => 1, () => 0)",
        "new Promise(done => { const i = new Image(); i.onload = () => done(1); i.onerror = () => done(0);"
        " i.src = 'http://127.0.0.1:1/x.png'; })",
        "new Promise(done => { const s = document.createElement('script'); s.onload = () => done(1);"
        " s.onerror = () => done(0); s.src = 'http://127.0.0.1:1/x.js'; document.head.append(s); })",
    ],
)
def test_nothing_goes_to_another_server(page: Page, server: Server, script: str) -> None:
    page.goto(f"{server.base}/home")
    page.get_by_test_id("stMain").wait_for()
    found = violations(page)
    assert page.evaluate(script) == 0
    assert found
