"""One server for all tests here, because it is slow to start; each test has its own project. A second one is on
PostgreSQL, for the core of the loop."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from db import projects
from plcore import LabelTable, LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.postgres import Server as PostgresServer
from tests.postgres import postgres_server
from tests.workflow.four import four_class_project
from workflow.answering.room import RoomSettings, change_room
from workflow.people import members, team
from workflow.projects.managing import create_project
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["postgres_server"]

OWNER, DEMO = 1, 1
ROOM = RoomSettings(
    "Look **twice**. <img src=x onerror='window.hurt=1'>", "fixed", {"cat": "with whiskers", "dog": "barks"}
)


@dataclass(frozen=True)
class Running:
    """context : the owner's browser      cookies : file with its cookies, since a sign-in link works once"""

    server: Server
    context: BrowserContext
    cookies: Path


@contextmanager
def running_at(folder: Path, browser: Browser, database_url: str = "") -> Iterator[Running]:
    server = Server(folder / "home", more={"WINNOW_DATABASE_URL": database_url}).start()
    try:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        opened = context.new_page()
        opened.goto(server.link)
        opened.get_by_role("heading", name="Projects").wait_for()
        context.storage_state(path=folder / "state.json")
        opened.close()
        yield Running(server, context, folder / "state.json")
        context.close()
    finally:
        server.stop()


@pytest.fixture(scope="session")
def running_sqlite(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_at(tmp_path_factory.mktemp("sqlite"), browser) as running:
        yield running


@pytest.fixture(scope="session")
def running_postgres(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer
) -> Iterator[Running]:
    with (
        postgres_server.empty_database() as url,
        running_at(tmp_path_factory.mktemp("postgres"), browser, url) as running,
    ):
        yield running


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """SQLite. Tests of the core loop have the mark `on_postgres_in_proofs`."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def running(backend: str, request: pytest.FixtureRequest) -> Running:
    """Started when the first test of the process needs it."""
    return request.getfixturevalue(f"running_{backend}")


@pytest.fixture
def server(running: Running) -> Server:
    return running.server


@pytest.fixture
def signed_in(running: Running) -> str:
    """The cookies of the owner."""
    return str(running.cookies)


@pytest.fixture
def context(running: Running) -> Iterator[BrowserContext]:
    """The owner's browser, which has Streamlit's scripts in its cache. What its pages remember ends with the test."""
    yield running.context
    for page in running.context.pages:
        page.evaluate("localStorage.clear()")
        page.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page signed in as the owner."""
    return context.new_page()


def follow(context: BrowserContext, link: str) -> Page:
    """Someone's page, signed in by a link."""
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Projects").wait_for()
    return page


def member(browser: Browser, server: Server, home: Home, project: int, name: str, role: str = "annotator") -> Page:
    """The page of a person who is a member of only this project, unless another test has taken the name."""
    owner = Seat(home, OWNER)
    link = f"{server.base}/signin?link={team.make_link(owner, name)}"
    members.share(owner, name, [project], role)
    return follow(browser.new_context(viewport={"width": 1280, "height": 800}), link)


NUMBERS = itertools.count(1000)


@pytest.fixture
def name() -> str:
    """For a project of this test only, and of this run of it, because a test may be run once more: without the words of
    any button, because tests look for those."""
    return f"P{next(NUMBERS)}"


@pytest.fixture
def digits(home: Home, name: str) -> int:
    """A separate project with the digits of the demo; returns its id."""
    with home.database.read() as session:
        table = LabelTable.read(home.table_path(projects.get(session, DEMO).table_hash))
    return create_project(Seat(home, OWNER), name, table, LearnerSettings(n_neighbors=5))


class Room:
    """A separate project on the shared server: rows of three candidates out of four classes."""

    def __init__(self, server: Server, home: Home, name: str) -> None:
        self.server, self.name = server, name
        self.project = four_class_project(home, OWNER, name)
        change_room(Seat(home, OWNER, self.project), ROOM)

    @property
    def address(self) -> str:
        return f"{self.server.base}/annotate?project={self.project}"

    def log(self) -> list[dict[str, Any]]:
        """The entries as they are in the database."""
        return room.log_of(self.server, self.project)

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.log()]


@pytest.fixture
def here(server: Server, home: Home, name: str) -> Room:
    return Room(server, home, name)


@pytest.fixture
def annotating(page: Page, here: Room) -> Page:
    room.annotate(page, here.server, here.project)
    return page
