"""Many simultaneous imports: waiting people see their place, removing a file makes room, and a page that returns finds
its file where it was."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser import room
from tests.browser.server import START, Server
from workflow.files import scratch
from workflow.files.limited import asking
from workflow.files.limited.asking import AT_ONCE

pytestmark = pytest.mark.browser

CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n3,a,5\n"


def helper_of(server: Server) -> int:
    """The process id of the file reader."""
    assert server.process is not None
    (helper,) = (
        number
        for number in children(server.process.pid)
        if asking._PROGRAM.encode() in Path(f"/proc/{number}/cmdline").read_bytes()
    )
    return helper


def children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(number) for path in tasks for number in path.read_text().split()]


@contextmanager
def held_up(server: Server) -> Iterator[None]:
    """Pause the file readers meanwhile."""
    helper = helper_of(server)
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


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The folder where the server unpacks files: each reading has its own folder there."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    return folder


@pytest.fixture
def server(tmp_path: Path, unpacked: Path) -> Iterator[Server]:
    running = Server(tmp_path / "home", command=START, more={"TMPDIR": str(unpacked)}).start()
    yield running
    running.stop()


@pytest.mark.proof
def test_queued_imports_show_their_place_and_each_file_is_read_once(page: Page, server: Server, unpacked: Path) -> None:
    sockets: list[tuple[WebSocketRoute, WebSocketRoute]] = []
    page.route_web_socket(re.compile("/_stcore/stream"), lambda one: sockets.append((one, one.connect_to_server())))
    reading = page.get_by_text("Reading the file …")

    def readings() -> list[Path]:
        return sorted(unpacked.glob(f"{scratch.PREFIX}*"))

    with held_up(server):
        send(page, server, "mine.csv")
        expect(page).to_have_url(re.compile("file-import="))
        while not (begun := readings()):  # the page says it as the reading begins
            page.wait_for_timeout(50)
        assert len(begun) == 1
        page.reload()
        expect(reading).to_be_visible()
        assert readings() == begun
        (mine, theirs), before = sockets[-1], len(sockets)
        theirs.close(code=1012)
        mine.close(code=1012)
        while len(sockets) == before:
            page.wait_for_timeout(50)
        expect(page.get_by_text("mine.csv")).to_be_visible()
        expect(reading).to_be_visible()
        assert readings() == begun
    expect(page.get_by_role("button", name="Create project")).to_be_visible()
    assert readings() == begun

    with held_up(server):
        first = [send(page.context.new_page(), server, f"{k}.csv") for k in range(AT_ONCE)]
        send(page, server, "other.csv")
        before = "1 other file comes" if AT_ONCE == 1 else f"{AT_ONCE} other files come"
        waiting = page.get_by_text(f"{before} before this one.")
        expect(waiting).to_be_visible()
        first[0].get_by_role("button", name="Remove").click()
        expect(waiting).to_be_hidden()
        expect(page.get_by_text("Reading the file …")).to_be_visible()
    expect(page.get_by_role("button", name="Create project")).to_be_visible()
    for other in first[1:]:
        expect(other.get_by_role("button", name="Create project")).to_be_visible()
