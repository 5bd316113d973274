"""kill -9 in mid-answering: nothing acknowledged is lost, and the next question is the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import room
from tests.browser.server import Server
from tests.browser.test_keys import log_of

pytestmark = pytest.mark.browser


def test_acknowledged_answers_survive_and_the_next_question_is_the_same(
    context: BrowserContext, tmp_path: Path
) -> None:
    server = Server(tmp_path / "home").start()
    page = context.new_page()
    page.goto(server.link)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    acknowledged = {}
    for _ in range(6):
        label = page.locator(".choice .label").first.inner_text()
        acknowledged[room.row_id(page)] = label
        room.answer(page, label)
    next_row, next_token = room.row_id(page), room.token(page)
    page.keyboard.press("1")  # in flight while the process dies: stored or not, but never half
    server.kill()
    page.close()
    # A second copy of the folder as the crash left it: what would have come next without that last press.
    shutil.copytree(server.home, tmp_path / "copy")
    try:
        for folder in (server.home, tmp_path / "copy"):
            again = Server(folder, port=server.port).start()
            tab = context.new_page()
            tab.goto(again.link)
            log = {entry["row_id"]: entry for entry in log_of(tab, again)}
            for row, label in acknowledged.items():
                assert log[row]["labels"] == label
            tab.goto(f"{again.base}/annotate")
            tab.locator(room.CARD).wait_for()
            if len(log) == len(acknowledged):
                assert (room.row_id(tab), room.token(tab)) == (next_row, next_token)
            else:
                assert room.row_id(tab) not in log
            tab.close()
            again.stop()
    finally:
        server.stop()


def test_a_kill_between_questions_changes_nothing(context: BrowserContext, tmp_path: Path) -> None:
    server = Server(tmp_path / "home").start()
    page = context.new_page()
    page.goto(server.link)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    for _ in range(3):
        room.answer(page, page.locator(".choice .label").first.inner_text())
    # Without the kill: what one more answer leads to.
    before = (room.row_id(page), room.token(page))
    label = page.locator(".choice .label").first.inner_text()
    shutil.copytree(server.home, tmp_path / "copy")
    room.answer(page, label)
    led_to = room.row_id(page)
    server.kill()
    page.close()
    again = Server(tmp_path / "copy").start()
    try:
        tab = context.new_page()
        tab.goto(again.link)
        tab.goto(f"{again.base}/annotate")
        tab.locator(room.CARD).wait_for()
        assert (room.row_id(tab), room.token(tab)) == before
        room.answer(tab, label)
        assert room.row_id(tab) == led_to
    finally:
        again.stop()
