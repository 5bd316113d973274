"""kill -9 while someone answers: no acknowledged answer is lost, and the next question is the same."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from db.engine import Database
from tests.browser import room
from tests.browser.server import Server
from tests.databases import backend, postgres_databases, postgres_server, postgres_url
from workflow.server.store import NOTE

__all__ = ["backend", "postgres_databases", "postgres_server", "postgres_url"]

pytestmark = pytest.mark.browser


class Homes:
    """Folders with their databases, and servers on them. databases : creates a PostgreSQL database; None: SQLite"""

    def __init__(self, folder: Path, databases: Callable[[], str] | None) -> None:
        self.folder, self.databases = folder, databases

    def new(self) -> Server:
        """A server that is not started yet, on a new home."""
        return self._server("home", "" if self.databases is None else self.databases())

    def copy(self, server: Server) -> Server:
        """A server on a copy of what the other has stored by now, whether that one is running or not."""
        folder = self.folder / "copy"
        shutil.copytree(server.home, folder)
        if self.databases is None:
            return self._server("copy", "")
        (folder / NOTE).unlink()  # the height is copied a moment later
        url = self.databases()
        there, here = Database(server.database_url), Database(url)
        there.copy_to(self.folder / "carried.sqlite3")
        here.fill_from(self.folder / "carried.sqlite3")
        for one in (there, here):
            one.close()
        return self._server("copy", url)

    def _server(self, name: str, url: str) -> Server:
        return Server(self.folder / name, more={"WINNOW_DATABASE_URL": url})


def again(server: Server) -> Server:
    """A server in place of one that was killed."""
    url = server.environment["WINNOW_DATABASE_URL"]
    return Server(server.home, server.port, more={"WINNOW_DATABASE_URL": url}).start()


@pytest.fixture
def homes(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Homes:
    databases = request.getfixturevalue("postgres_databases") if backend == "postgres" else None
    return Homes(tmp_path, databases)


def downloaded_log(page: Page, server: Server) -> list[dict[str, str]]:
    """The answer log as the owner downloads it."""
    page.goto(f"{server.base}/export")
    page.locator("summary", has_text="More formats").click()
    page.get_by_text("Answer log", exact=True).click()
    page.get_by_role("heading", name="Lines").wait_for()
    page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        # Its place now: the page may move it as it becomes ready.
        page.get_by_role("link", name="Download").first.evaluate("one => one.click()")
    return list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))


@pytest.fixture
def annotating(context: BrowserContext, homes: Homes) -> Iterator[tuple[Server, Page]]:
    """A separate server, and its owner's browser with a question of the demo."""
    server = homes.new().start()
    page = context.new_page()
    page.goto(server.link)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    yield server, page
    server.stop()


def test_acknowledged_answers_survive_and_next_question_is_the_same(
    context: BrowserContext, annotating: tuple[Server, Page], homes: Homes
) -> None:
    server, page = annotating
    acknowledged = {}
    for _ in range(6):
        label = page.locator(".choice .label").first.inner_text()
        acknowledged[room.row_id(page)] = label
        room.answer(page, label)
    next_row, next_token = room.row_id(page), room.token(page)
    page.keyboard.press(room.first_key(page))  # in flight while the process dies: stored or not, but never half
    server.kill()
    page.close()
    # A second copy of the files after the crash: the next question without the last press.
    copy = homes.copy(server)
    for one in (again(server), copy.start()):
        tab = context.new_page()
        tab.goto(one.link)
        log = {entry["row_id"]: entry for entry in downloaded_log(tab, one)}
        for row, label in acknowledged.items():
            assert log[row]["labels"] == label
        tab.goto(f"{one.base}/annotate")
        tab.locator(room.CARD).wait_for()
        if len(log) == len(acknowledged):
            assert (room.row_id(tab), room.token(tab)) == (next_row, next_token)
        else:
            assert room.row_id(tab) not in log
        tab.close()
        one.stop()


@pytest.mark.proof
def test_open_card_answers_again_after_restart(annotating: tuple[Server, Page]) -> None:
    server, page = annotating
    asked, label, shown = (room.row_id(page), page.locator(".choice .label").first.inner_text(), room.token(page))
    server.kill()
    other = again(server)
    try:
        page.keyboard.press(room.first_key(page))
        room.wait_for_next(page, shown)
        log = downloaded_log(page, other)
        assert [(entry["row_id"], entry["labels"]) for entry in log] == [(asked, label)]
    finally:
        other.stop()


@pytest.mark.proof
def test_answer_while_server_is_down_is_stored_once_later(annotating: tuple[Server, Page]) -> None:
    server, page = annotating
    asked, label, shown = (room.row_id(page), page.locator(".choice .label").first.inner_text(), room.token(page))
    page.keyboard.press("t")
    page.keyboard.type("typed before")
    page.keyboard.press("Escape")
    server.kill()
    page.keyboard.press(room.first_key(page))
    other = again(server)
    try:
        room.wait_for_next(page, shown)
        expect(page.locator(".saved")).to_contain_text(f"Saved: row {asked} is {label}")
        (entry,) = room.log_of(other, project=1)
        assert (json.loads(entry["labels"]), entry["note"]) == ([label], "typed before")
    finally:
        other.stop()


@pytest.mark.proof
def test_kill_between_questions_changes_nothing(
    context: BrowserContext, annotating: tuple[Server, Page], homes: Homes
) -> None:
    server, page = annotating
    for _ in range(3):
        room.answer(page, page.locator(".choice .label").first.inner_text())
    # Without the kill: the question after one more answer.
    before = (room.row_id(page), room.token(page))
    label = page.locator(".choice .label").first.inner_text()
    copy = homes.copy(server)
    room.answer(page, label)
    led_to = room.row_id(page)
    server.kill()
    page.close()
    copy.start()
    try:
        tab = context.new_page()
        tab.goto(copy.link)
        tab.goto(f"{copy.base}/annotate")
        tab.locator(room.CARD).wait_for()
        assert (room.row_id(tab), room.token(tab)) == before
        room.answer(tab, label)
        assert room.row_id(tab) == led_to
    finally:
        copy.stop()
