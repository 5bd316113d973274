"""The database is removed under a running server: people get a message, keep the card, and continue once it is back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import room
from tests.browser.server import Server
from tests.browser.test_kill import downloaded_log

pytestmark = pytest.mark.browser

GENERIC = "This app has encountered an error"


@pytest.mark.proof
def test_deleted_database_is_reported_and_comes_back(context: BrowserContext, tmp_path: Path) -> None:
    server = Server(tmp_path / "home").start()
    database = server.home / "winnow.sqlite3"
    try:
        page = context.new_page()
        page.goto(server.link)
        page.goto(f"{server.base}/annotate")
        page.locator(room.CARD).wait_for()
        saved = {}
        for _ in range(2):
            row, label = room.row_id(page), page.locator(".choice .label").first.inner_text()
            room.answer(page, label)
            saved[row] = label
        row, label = room.row_id(page), page.locator(".choice .label").first.inner_text()
        assert page.request.get(f"{server.base}/healthz").status == 200
        database.unlink()
        page.keyboard.press(room.first_key(page))
        page.get_by_text("was deleted or moved away").first.wait_for()
        assert room.row_id(page) == row, "the card stays"
        assert page.request.get(f"{server.base}/healthz").status == 503
        for address in ("/", "/progress", "/review", "/people"):
            other = context.new_page()
            other.goto(f"{server.base}{address}")
            other.get_by_text("was deleted or moved away").first.wait_for()
            assert GENERIC not in other.content()
            other.close()
        (rescued,) = server.home.glob("winnow.sqlite3.rescued-*")
        rescued.rename(database)
        assert page.request.get(f"{server.base}/healthz").status == 200
        room.answer(page, label)
        saved[row] = label
        server.kill()
        again = Server(server.home, port=server.port).start()
        tab = context.new_page()
        tab.goto(again.link)
        assert {entry["row_id"]: entry["labels"] for entry in downloaded_log(tab, again)} == saved
        again.stop()
        assert "Traceback" not in "\n".join(again.lines)
    finally:
        server.stop()


@pytest.mark.proof
def test_overwritten_database_is_explained_on_every_page(context: BrowserContext, tmp_path: Path) -> None:
    server = Server(tmp_path / "home").start()
    database = server.home / "winnow.sqlite3"
    try:
        page = context.new_page()
        page.goto(server.link)
        page.goto(f"{server.base}/annotate")
        page.locator(room.CARD).wait_for()
        server.stop()
        shutil.copy(database, tmp_path / "now")
        again = Server(server.home, port=server.port).start()
        page.goto(again.link)
        page.goto(f"{again.base}/annotate")
        page.locator(room.CARD).wait_for()
        os.truncate(database, 4096)
        page.keyboard.press(room.first_key(page))
        page.get_by_text("was cut short").first.wait_for()
        for address in ("/", "/annotate", "/export", "/team"):
            page.goto(f"{again.base}{address}")
            page.get_by_text("was cut short").first.wait_for()
            assert GENERIC not in page.content()
        again.stop()
    finally:
        server.stop()
