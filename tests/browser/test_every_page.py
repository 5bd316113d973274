"""Every page as it is walked through by keyboard, with text twice as large, and what it asks for."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.screenshots import PAGES, SIZES, open_page
from tests.browser.server import Server

pytestmark = pytest.mark.browser

AT_MOST = 400
"""Presses of Tab until the walk must be back where it began."""

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return null;
  window.winnowWalked ??= new Map();
  const first = !window.winnowWalked.has(at);
  if (first) window.winnowWalked.set(at, window.winnowWalked.size);
  const drawn = at.closest("canvas") ?? at;  // that of a cell, which is drawn there
  const box = drawn.getBoundingClientRect();
  const style = getComputedStyle(drawn);
  return {
    number: window.winnowWalked.get(at), first,
    name: `${at.tagName.toLowerCase()} ${(at.getAttribute("aria-label") || at.textContent || "").trim().slice(0, 60)}`,
    shown: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight
      && box.right > 0 && box.left < innerWidth && style.visibility !== "hidden",
  };
}"""
THERE = """() => {
  const shown = one => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 0;
  const pressed = "[data-testid=stMain] button, [data-testid=stMain] a[href], [data-testid=stHeader] a[href]";
  window.winnowThere = [...document.querySelectorAll(pressed)].filter(shown);
}"""
"""What can be pressed when the walk begins: in a table the walk chooses a cell, and with it comes one to clear that."""
TO_BE_REACHED = """() => {
  const walked = window.winnowWalked ?? new Map();
  const passed = one => one.disabled || one.tabIndex < 0 || walked.has(one) || one.closest("[inert], .modebar");
  return window.winnowThere.filter(one => one.isConnected && !passed(one)).map(one => one.outerHTML.slice(0, 160));
}"""
SIDEWAYS = """() => {
  const main = document.querySelector("[data-testid=stMain]") ?? document.scrollingElement;
  return Math.max(main.scrollWidth - main.clientWidth, document.scrollingElement.scrollWidth - innerWidth);
}"""


def walk(page: Page) -> list[str]:
    """What is wrong with a walk through the page by Tab alone; in a table it goes from cell to cell."""
    wrong = []
    page.evaluate(THERE)
    for _ in range(AT_MOST):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None or (at["number"] == 0 and not at["first"]):
            break
        if "Link to heading" in at["name"]:
            wrong.append("stops at the anchor of a heading")
        if not at["shown"]:
            wrong.append(f"has the focus and is not to be seen: {at['name']}")
    else:
        wrong.append(f"{AT_MOST} presses of Tab do not come round")
    return wrong + [f"cannot be reached: {one}" for one in page.evaluate(TO_BE_REACHED)]


def test_every_page_is_walked_by_keyboard_and_asks_only_its_own_server(
    browser: Browser, looked_at: tuple[Server, Path]
) -> None:
    server, cookies = looked_at
    context = browser.new_context(viewport=SIZES[""], storage_state=cookies)  # type: ignore[arg-type]
    page = context.new_page()
    own, elsewhere = urlsplit(server.base).netloc, []

    def note(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
            elsewhere.append(address)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda socket: note(socket.url))
    wrong, titles = {}, {}
    for name in PAGES:
        open_page(page, server.base, name, settle=300)
        titles[name] = page.title()
        if found := walk(page):
            wrong[name] = found
    context.close()
    assert len(set(titles.values())) == len(PAGES), titles
    assert all(one.endswith(" · Winnow") for one in titles.values()), titles
    assert not elsewhere
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)


@pytest.mark.parametrize("suffix", list(SIZES))
def test_text_of_twice_the_size_scrolls_no_page_sideways(
    browser: Browser, looked_at: tuple[Server, Path], suffix: str
) -> None:
    """As a browser whose text is set to 200 %: all sizes of the pages follow the root's."""
    server, cookies = looked_at
    context = browser.new_context(viewport=SIZES[suffix], storage_state=cookies)  # type: ignore[arg-type]
    context.add_init_script(
        "addEventListener('DOMContentLoaded', () => document.documentElement.style.fontSize = '200%')"
    )
    page = context.new_page()
    wrong = {}
    for name in PAGES:
        open_page(page, server.base, name, settle=300)
        if (beyond := page.evaluate(SIDEWAYS)) > 1:
            wrong[name] = beyond
    context.close()
    assert not wrong, wrong
