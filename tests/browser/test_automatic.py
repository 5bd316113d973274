"""A project whose model nobody has chosen: Automatic compares, adopts and says so, before the first answer."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.test_training import give_workers_their_turn

pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.public_data]

PATIENCE = 900.0
"""Seconds that a machine under load may need for a comparison that takes half a minute of one core."""


def lost_frame(folder: Path) -> pd.DataFrame:
    """Lost as an ordinary file: candidates such as person03|person11, who it was, 108 features."""
    data = np.load(folder / "lost.npz")
    names = np.array([f"person{k:02d}" for k in range(data["S"].shape[1])])
    frame = pd.DataFrame(data["X"], columns=[f"f{k:03d}" for k in range(data["X"].shape[1])])
    frame.insert(0, "candidates", ["|".join(names[row.astype(bool)]) for row in data["S"]])
    frame.insert(1, "person", names[data["y"]])
    return frame


def import_lost(page: Page, server: Server, file: Path) -> int:
    """The project made of the file; a fifth of the rows is held out, everything else stays as it is offered."""
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(file)
    create = page.get_by_role("button", name="Create project")
    create.wait_for()
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile("^Automatic"))
    share = page.get_by_role("slider", name="Rows held out to measure accuracy")
    share.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("20 %", exact=True).first).to_be_visible()
    room.hide_truth(page)  # the answers are to be given here
    create.click()
    page.locator(room.CARD).wait_for(timeout=120_000)
    found = re.search(r"project=(\d+)", page.url)
    assert found
    return int(found[1])


@pytest.mark.timeout(2 * PATIENCE)
def test_lost_is_compared_and_adopted_before_the_first_answer(
    page: Page, server: Server, data_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lost.csv"
    lost_frame(data_folder).to_csv(file, index=False)
    project = import_lost(page, server, file)
    page.goto(f"{server.base}/models?project={project}")
    expect(page.get_by_text("Winnow chooses the model.")).to_be_visible()
    expect(page.get_by_text(re.compile("Comparing the models"))).to_be_visible(timeout=PATIENCE * 1000)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    until = time.monotonic() + PATIENCE
    adopted = page.get_by_text(re.compile("From the start: Kernel ridge, .+ beyond chance")).first
    while not adopted.is_visible():  # the page says it by itself
        assert time.monotonic() < until, server.lines[-20:]
        give_workers_their_turn(server)
        page.wait_for_timeout(1000)
    expect(page.get_by_text(re.compile(r"Now Kernel ridge answers"))).to_be_visible()
    expect(page.get_by_role("button", name="Use PL-KNN")).to_be_visible()

    page.goto(f"{server.base}/progress?project={project}")
    expect(page.get_by_text(re.compile("From the start: Kernel ridge"))).to_be_visible()
    accuracy = page.get_by_test_id("stMetric").filter(has_text="Accuracy").get_by_test_id("stMetricValue")
    expect(accuracy).to_be_visible()
    assert float(accuracy.inner_text().rstrip("%")) >= 80.0
    assert room.log_of(server, project)[0]["kind"] == "model"
    assert len(room.log_of(server, project)) == 1, "nobody has answered yet"

    page.goto(f"{server.base}/models?project={project}")
    page.get_by_role("button", name="Use PL-KNN").click()
    expect(page.get_by_text("The model is chosen by hand. Now PL-KNN answers.")).to_be_visible()
    page.get_by_role("button", name="Let Winnow choose").click()
    expect(page.get_by_text("Winnow chooses the model.")).to_be_visible()
