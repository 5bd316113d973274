"""The top of the Progress page in a browser: the owner's goal and the line of random order are drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.world import small_project
from workflow.models.random_order import RandomOrderWorker
from workflow.people import team
from workflow.server.home import Home

pytestmark = pytest.mark.browser


@pytest.mark.proof
def test_goal_and_random_order_are_drawn(page: Page, server: Server, home: Home) -> None:
    owner = team.ensure_owner(home).id
    project = small_project(home, owner, test_share=0.5)
    answer_truly(home, owner, project, 20)
    RandomOrderWorker(home, "beside").look()
    page.goto(f"{server.base}/progress?project={project}")
    chart = page.locator(".js-plotly-plot").first
    chart.locator(".main-svg").first.wait_for()
    expect(chart.get_by_text("random order, estimated")).to_be_visible()
    expect(page.locator(".st-key-winnow_saved")).to_contain_text("here it took 20")
    page.get_by_role("button", name="Set a goal").click()
    page.get_by_role("spinbutton", name="Goal for the accuracy").fill("99")
    page.get_by_role("button", name="Set the goal").click()
    expect(chart.locator(".annotation-text")).to_have_text("goal 99%")
    expect(page.locator(".st-key-winnow_lead")).to_contain_text("99%")
    expect(page.get_by_role("img", name="of a goal of 99%")).to_be_visible()
    page.reload()
    expect(chart.locator(".annotation-text")).to_have_text("goal 99%")
