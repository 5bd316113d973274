"""One server for all tests here, which takes the longest of what they need; each has a project of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from db import projects
from plcore import LabelTable, LearnerSettings
from tests.browser.server import Server
from workflow.home import Home, open_home
from workflow.projects import create_project
from workflow.settings import Settings

OWNER, DEMO = 1, 1


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server") / "home").start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def signed_in(browser: Browser, server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The cookies of the owner: a sign-in link works once."""
    path = str(tmp_path_factory.mktemp("state") / "state.json")
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(server.link)
    opened.get_by_role("heading", name="Projects").wait_for()
    context.storage_state(path=path)
    context.close()
    return path


@pytest.fixture
def context(browser: Browser, signed_in: str) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1280, "height": 800}, storage_state=signed_in, accept_downloads=True
    )
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page signed in as the owner."""
    return context.new_page()


@pytest.fixture
def home(server: Server) -> Iterator[Home]:
    """What the server's home holds, opened beside it: to make a project there and to read its log."""
    opened = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    yield opened
    opened.close()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Of a project that is this test's alone."""
    return request.node.name[:70]


@pytest.fixture
def digits(home: Home, name: str) -> int:
    """A project of its own with the digits of the demo; its number."""
    with home.database.read() as session:
        table = LabelTable.read(home.table_path(projects.get(session, DEMO).table_hash))
    return create_project(home, OWNER, name, table, LearnerSettings(n_neighbors=5))
