"""Many import at once: those who have to wait are told, and who leaves the page makes room."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from workflow.common.limited import asking
from workflow.common.limited.line import AT_ONCE

pytestmark = pytest.mark.browser

CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n3,a,5\n"


@contextmanager
def held_up(server: Server) -> Iterator[None]:
    """What reads files stands still meanwhile."""
    assert server.process is not None
    children = [
        int(number)
        for path in Path(f"/proc/{server.process.pid}/task").glob("*/children")
        for number in path.read_text().split()
    ]
    (helper,) = (
        number
        for number in children
        if asking._PROGRAM.encode() in Path(f"/proc/{number}/cmdline").read_bytes()
    )
    os.kill(helper, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(helper, signal.SIGCONT)


def send(page: Page, server: Server, name: str) -> Page:
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files({"name": name, "mimeType": "text/csv", "buffer": CSV})
    expect(page.get_by_text("Reading the file …")).to_be_visible()
    return page


def test_who_waits_is_told_and_who_leaves_makes_room(page: Page, server: Server) -> None:
    with held_up(server):
        first = [send(page.context.new_page(), server, f"{k}.csv") for k in range(AT_ONCE)]
        send(page, server, "mine.csv")
        before = "1 other file comes" if AT_ONCE == 1 else f"{AT_ONCE} other files come"
        waiting = page.get_by_text(f"{before} before this one.")
        expect(waiting).to_be_visible()
        first[0].goto(f"{server.base}/account")
        expect(waiting).to_be_hidden()
        expect(page.get_by_text("Reading the file …")).to_be_visible()
    expect(page.get_by_role("button", name="Create project")).to_be_visible()
    for other in first[1:]:
        expect(other.get_by_role("button", name="Create project")).to_be_visible()
