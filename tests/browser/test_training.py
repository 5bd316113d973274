"""A model trained in the background: a worker is started, versions appear, nothing waits, nothing is left over."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.workflow.world import small_project
from workflow import team
from workflow.home import open_home
from workflow.settings import Settings

pytestmark = pytest.mark.browser


@pytest.fixture
def project(server: Server) -> int:
    """A project with a trained model, made beside the running server."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    made = small_project(home, team.ensure_owner(home).id, model="plsvc", strategy="margin", train_every=2)
    home.close()
    return made


def workers_of(server: Server) -> list[int]:
    """The processes of this server that run worker.py."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        mine = f"WINNOW_HOME={server.home}".encode() in environment
        if mine and any(part.endswith(b"worker.py") for part in command):
            found.append(int(process.name))
    return found


def model_on_screen(page: Page) -> int:
    """The version that the suggestions come from, -1 before the first."""
    words = page.locator(".card .model").inner_text()
    return int(words.rsplit(" ", 1)[1]) if re.fullmatch(r"Shares by model \d+", words) else -1


def wait_for_model(page: Page, least: int, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while model_on_screen(page) < least:
        assert time.monotonic() < until, f"no model {least} within {seconds} s"
        page.wait_for_timeout(500)
        page.reload()
        page.locator(room.CARD).wait_for()


def test_versions_follow_the_answers(page: Page, server: Server, project: int) -> None:
    page.goto(f"{server.base}/annotate?project={project}")
    page.locator(room.CARD).wait_for()
    wait_for_model(page, 0)
    for _ in range(4):
        shown = room.token(page)
        page.keyboard.press("1")
        room.wait_for_next(page, shown)
    wait_for_model(page, 2)
    page.goto(f"{server.base}/progress?project={project}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    expect(page.get_by_text(re.compile("[Mm]odel version")).first).to_be_visible()


def test_a_killed_worker_is_replaced_and_none_outlives_the_server(
    page: Page, server: Server, project: int
) -> None:
    page.goto(f"{server.base}/annotate?project={project}")
    page.locator(room.CARD).wait_for()
    wait_for_model(page, 0)
    (worker,) = workers_of(server)
    os.kill(worker, signal.SIGKILL)
    for _ in range(3):
        shown = room.token(page)
        page.keyboard.press("1")
        room.wait_for_next(page, shown)
    wait_for_model(page, 2)  # a lease of the dead one lasts at most half a minute
    (second,) = workers_of(server)
    assert second != worker
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGKILL)  # it alone: nobody tells the worker
    until = time.monotonic() + 60
    while workers_of(server):
        assert time.monotonic() < until, "a worker outlived its server"
        time.sleep(0.2)
