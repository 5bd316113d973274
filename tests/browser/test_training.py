"""A model trained in the background: a worker is started, versions appear, nothing waits, nothing is left over."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.turns import give_turn
from tests.workflow.world import small_project
from workflow.people import team
from workflow.server.home import open_home
from workflow.server.settings import Settings

pytestmark = pytest.mark.browser

PATIENCE = 300.0
"""Seconds that a machine under load may need for anything here; on an idle one all of it takes seconds."""


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
    words = page.locator(".card .model").get_attribute("title") or ""
    found = re.search(r"learnt from the (?:answers up to line ([\d,]+) of the log|table alone so far)", words)
    return -1 if found is None else int((found[1] or "0").replace(",", ""))


def newest_model(server: Server, project: int) -> int:
    """The newest version that was published, -1 before the first."""
    database = sqlite3.connect(f"file:{server.home / 'winnow.sqlite3'}?mode=ro", uri=True)
    with closing(database):
        (found,) = database.execute(
            "SELECT max(version) FROM models WHERE project_id = ?", (project,)
        ).fetchone()
    return -1 if found is None else found


def give_workers_their_turn(server: Server) -> None:
    """Workers take the time that is left over, which on a busy machine may be none for minutes."""
    for worker in workers_of(server):
        give_turn(worker)


def wait_for_model(page: Page, server: Server, project: int, least: int) -> None:
    """Until a version at least so new is published, without asking the server meanwhile; then until it is on the
    screen.
    """
    until = time.monotonic() + PATIENCE
    while newest_model(server, project) < least:
        assert time.monotonic() < until, f"no model {least} was published: {server.lines[-20:]}"
        give_workers_their_turn(server)
        page.wait_for_timeout(200)
    while model_on_screen(page) < least:  # a page takes it in once its question is drawn
        assert time.monotonic() < until, f"model {least} is published and not on the screen"
        page.reload()
        page.locator(room.CARD).wait_for()


@pytest.mark.timeout(3 * PATIENCE)
def test_versions_follow_the_answers(page: Page, server: Server, project: int) -> None:
    page.goto(f"{server.base}/annotate?project={project}")
    page.locator(room.CARD).wait_for()
    wait_for_model(page, server, project, 0)
    for _ in range(4):
        shown = room.token(page)
        page.keyboard.press(room.first_key(page))
        room.wait_for_next(page, shown)
    wait_for_model(page, server, project, 2)
    page.goto(f"{server.base}/progress?project={project}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=PATIENCE * 1000)
    expect(page.get_by_text(re.compile("[Mm]odel version")).first).to_be_visible()


@pytest.mark.proof
@pytest.mark.timeout(3 * PATIENCE)
def test_a_killed_worker_is_replaced_and_none_outlives_the_server(
    page: Page, server: Server, project: int
) -> None:
    page.goto(f"{server.base}/annotate?project={project}")
    page.locator(room.CARD).wait_for()
    wait_for_model(page, server, project, 0)
    (worker,) = workers_of(server)
    os.kill(worker, signal.SIGKILL)
    for _ in range(3):
        shown = room.token(page)
        page.keyboard.press(room.first_key(page))
        room.wait_for_next(page, shown)
    wait_for_model(page, server, project, 2)  # a lease of the dead one lasts at most half a minute
    (second,) = workers_of(server)
    assert second != worker
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGKILL)  # it alone: nobody tells the worker
    until = time.monotonic() + PATIENCE
    while workers_of(server):
        assert time.monotonic() < until, "a worker outlived its server"
        time.sleep(0.2)
