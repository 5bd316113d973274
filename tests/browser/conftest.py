"""A browser for the session, a server for the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser import room
from tests.browser.obtain import find
from tests.browser.server import Server
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000
"""Milliseconds that any step may take: speed is measured in benchmarks, and this machine may be busy. Tests have no
shorter timeouts of their own."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find()
    assert path is not None, "Chromium is missing: run 'make test', which installs it."
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=PATIENCE)
        launched.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield launched
        launched.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "home").start()
    yield running
    running.stop()


def answered(page: Page, server: Server) -> None:
    """Answer a few questions of the demo, as someone who signs in with the server's link."""
    page.goto(server.link)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    for _ in range(3):
        shown = room.token(page)
        page.keyboard.press(room.first_key(page))
        room.wait_for_next(page, shown)


@pytest.fixture(scope="session")
def looked_at(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server with some answered questions of the demo, and the cookies of its owner: for tests that look at every
    page and change nothing."""
    folder = tmp_path_factory.mktemp("looked_at")
    running = Server(folder / "home").start()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    answered(context.new_page(), running)
    context.storage_state(path=folder / "state.json")
    context.close()
    yield running, folder / "state.json"
    running.stop()


@pytest.fixture
def home(server: Server) -> Iterator[Home]:
    """The server's home, opened next to the server: to create a project there and to read its log."""
    opened = open_home(Settings.from_environment(server.environment))
    yield opened
    opened.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Page:
    """A page signed in as the owner."""
    opened = context.new_page()
    opened.goto(server.link)
    opened.get_by_role("heading", name="Projects").wait_for()
    return opened


@pytest.fixture
def errors_of() -> Callable[[Page], list[str]]:
    """Collects the errors that the page's console reports."""

    def collect(page: Page) -> list[str]:
        found: list[str] = []
        page.on("pageerror", lambda error: found.append(str(error)))
        return found

    return collect
