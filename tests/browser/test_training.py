"""Training, automatic choice and shortlists in the browser."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.workflow.world import small_project
from workflow.people import team
from workflow.server.home import open_home
from workflow.server.settings import Settings

# A model trained in the background: a worker is started, versions appear, nothing waits, nothing is left
# over


PATIENCE = 300.0
"""Seconds that anything here may take on a busy machine; on an idle one all of it takes seconds."""


@pytest.fixture
def project(server: Server) -> int:
    """A project with a trained model, created next to the running server."""
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
    """The version of the displayed suggestions, -1 before the first."""
    words = page.locator(".card .model").get_attribute("title") or ""
    found = re.search(r"learnt from the (?:answers up to line ([\d,]+) of the log|table alone so far)", words)
    return -1 if found is None else int((found[1] or "0").replace(",", ""))


def newest_model(server: Server, project: int) -> int:
    """The newest published version, -1 before the first."""
    database = sqlite3.connect(f"file:{server.home / 'winnow.sqlite3'}?mode=ro", uri=True)
    with closing(database):
        (found,) = database.execute("SELECT max(version) FROM models WHERE project_id = ?", (project,)).fetchone()
    return -1 if found is None else found


def wait_for_model(page: Page, server: Server, project: int, least: int) -> None:
    """Wait until a version at least this new is published, without asking the server meanwhile; then until it is
    displayed.
    """
    until = time.monotonic() + PATIENCE
    while newest_model(server, project) < least:
        assert time.monotonic() < until, f"no model {least} was published: {server.lines[-20:]}"
        page.wait_for_timeout(200)
    while model_on_screen(page) < least:  # a page takes it in once its question is drawn
        assert time.monotonic() < until, f"model {least} is published and not on the screen"
        page.reload()
        page.locator(room.CARD).wait_for()


@pytest.mark.browser
@pytest.mark.proof
@pytest.mark.timeout(3 * PATIENCE)
def test_killed_worker_is_replaced_and_ends_with_server(page: Page, server: Server, project: int) -> None:
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
    os.kill(server.process.pid, signal.SIGKILL)  # it alone: no one tells the worker
    until = time.monotonic() + PATIENCE
    while workers_of(server):
        assert time.monotonic() < until, "a worker outlived its server"
        time.sleep(0.2)


# A project without a chosen model: Automatic compares the models and adopts one, with a message, before the first
# answer


AUTOMATIC_PATIENCE = 900.0
"""Seconds that a comparison may take on a busy machine; it takes half a minute of one core."""


def lost_frame(folder: Path) -> pd.DataFrame:
    """Lost as an ordinary file: candidates such as person03|person11, who it was, 108 features."""
    data = dict(np.load(folder / "lost.npz"))
    names = np.array([f"person{k:02d}" for k in range(data["S"].shape[1])])
    frame = pd.DataFrame(data["X"], columns=[f"f{k:03d}" for k in range(data["X"].shape[1])])
    frame.insert(0, "candidates", ["|".join(names[row.astype(bool)]) for row in data["S"]])
    frame.insert(1, "person", names[data["y"]])
    return frame


def import_lost(page: Page, server: Server, file: Path) -> int:
    """The project created from the file; a fifth of the rows is held out, and the other settings keep their
    defaults."""
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(file)
    create = page.get_by_role("button", name="Create project")
    create.wait_for()
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile("^Automatic"))
    share = page.get_by_role("slider", name="Rows held out to measure accuracy")
    share.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("20%", exact=True).first).to_be_visible()
    room.hide_truth(page)  # this test gives the answers
    create.click()
    page.locator(room.CARD).wait_for(timeout=120_000)
    found = re.search(r"project=(\d+)", page.url)
    assert found
    return int(found[1])


@pytest.mark.browser
@pytest.mark.proof
@pytest.mark.public_data
@pytest.mark.timeout(2 * AUTOMATIC_PATIENCE)
def test_models_are_compared_and_adopted_before_first_answer(
    page: Page, server: Server, data_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lost.csv"
    lost_frame(data_folder).to_csv(file, index=False)
    project = import_lost(page, server, file)
    page.goto(f"{server.base}/models?project={project}")
    expect(page.get_by_text("Automatic is on")).to_be_visible()
    expect(page.get_by_text(re.compile("Comparing the models"))).to_be_visible(timeout=AUTOMATIC_PATIENCE * 1000)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    until = time.monotonic() + AUTOMATIC_PATIENCE
    adopted = page.get_by_text(re.compile("From the start: Kernel ridge, .+ beyond chance")).first
    while not adopted.is_visible():  # the page shows it without a click
        assert time.monotonic() < until, server.lines[-20:]
        page.wait_for_timeout(1000)
    expect(page.get_by_text(re.compile(r"It now uses Kernel ridge"))).to_be_visible()
    expect(page.get_by_role("button", name="Use this model: Nearest rows")).to_be_visible()

    page.goto(f"{server.base}/progress?project={project}")
    expect(page.get_by_text(re.compile("From the start: Kernel ridge"))).to_be_visible()
    accuracy = page.get_by_test_id("stMetric").filter(has_text="Accuracy").get_by_test_id("stMetricValue")
    expect(accuracy).to_be_visible()
    assert float(accuracy.inner_text().rstrip("%")) >= 80.0
    assert room.log_of(server, project)[0]["kind"] == "model"
    assert len(room.log_of(server, project)) == 1, "no one has answered yet"

    page.goto(f"{server.base}/models?project={project}")
    page.get_by_role("button", name="Use this model: Nearest rows").click()
    expect(page.get_by_text("Winnow uses PL-KNN until you choose another model.")).to_be_visible()
    page.get_by_role("switch", name="Automatic").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Automatic is on")).to_be_visible()
