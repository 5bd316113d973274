"""kill -9 in mid-answering: nothing acknowledged is lost, and the next question is the same."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import room
from tests.browser.server import Server

pytestmark = pytest.mark.browser


def downloaded_log(page: Page, server: Server) -> list[dict[str, str]]:
    """The answer log as the owner downloads it."""
    page.goto(f"{server.base}/export")
    page.get_by_text("Answer log (.csv)").click()
    page.get_by_text("Which lines").wait_for()
    page.get_by_role("button", name="Prepare file").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").first.click()
    return list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))


def annotating(context: BrowserContext, tmp_path: Path) -> tuple[Server, Page]:
    """A server of its own, and its owner's browser with a question of the demo."""
    server = Server(tmp_path / "home").start()
    page = context.new_page()
    page.goto(server.link)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    return server, page


def test_acknowledged_answers_survive_and_the_next_question_is_the_same(
    context: BrowserContext, tmp_path: Path
) -> None:
    server, page = annotating(context, tmp_path)
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
            log = {entry["row_id"]: entry for entry in downloaded_log(tab, again)}
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


def test_a_card_that_was_open_answers_again_after_a_restart(context: BrowserContext, tmp_path: Path) -> None:
    server, page = annotating(context, tmp_path)
    asked, label = room.row_id(page), page.locator(".choice .label").first.inner_text()
    server.kill()
    again = Server(server.home, port=server.port).start()
    try:
        page.wait_for_timeout(1500)
        page.keyboard.press("1")
        # Stored at once, or the page finds out by itself that it has to be loaded anew: never deaf for ever.
        page.wait_for_timeout(9000)
        if room.row_id(page) == asked:
            room.answer(page, label)
        log = downloaded_log(page, again)
        assert [(entry["row_id"], entry["labels"]) for entry in log] == [(asked, label)]
    finally:
        again.stop()


def test_a_press_while_the_server_is_gone_is_stored_once_it_is_back_with_its_note(
    context: BrowserContext, tmp_path: Path
) -> None:
    server, page = annotating(context, tmp_path)
    asked, label, shown = (
        room.row_id(page),
        page.locator(".choice .label").first.inner_text(),
        room.token(page),
    )
    page.keyboard.press("t")
    page.keyboard.type("typed before")
    page.keyboard.press("Escape")
    server.kill()
    page.keyboard.press("1")
    again = Server(server.home, port=server.port).start()
    try:
        room.wait_for_next(page, shown)
        expect(page.locator(".saved")).to_contain_text(f"Saved: row {asked} is {label}")
        (entry,) = room.log_of(again, project=1)
        assert (json.loads(entry["labels"]), entry["note"]) == ([label], "typed before")
    finally:
        again.stop()


def test_a_kill_between_questions_changes_nothing(context: BrowserContext, tmp_path: Path) -> None:
    server, page = annotating(context, tmp_path)
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
