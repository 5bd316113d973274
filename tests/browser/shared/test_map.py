"""Map in a real browser: coloured as the address says, a click shows a row and asks it, a lasso asks many at once."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.workflow.alike_world import alike_project
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def test_a_click_asks_a_row_and_a_lasso_many(
    page: Page, server: Server, home: Home, name: str, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    project = alike_project(home, OWNER, name, control_share=0.0).project_id
    page.goto(f"{server.base}/map?project={project}")
    marks = page.locator(".js-plotly-plot .scatterlayer .trace")
    marks.first.wait_for()
    drawn_in = marks.first.locator(".point").first.evaluate("mark => getComputedStyle(mark).fill")
    assert "rgb(0, 0, " not in drawn_in, "the browser puts the theme's colour in the place of its name"
    page.get_by_role("radiogroup", name="Colour by").get_by_text("State").click()
    page.get_by_text("Open rows can still be asked about").wait_for()
    expect(page).to_have_url(re.compile("colour=State"))
    page.reload()
    page.get_by_text("Open rows can still be asked about").wait_for()
    marks.first.wait_for()
    still_open = room.place_of(marks.last.locator(".point").last)  # they are drawn above all others
    page.mouse.click(still_open["x"] + still_open["width"] / 2, still_open["y"] + still_open["height"] / 2)
    ask = page.get_by_role("button", name="Ask this row")
    ask.wait_for()
    row = page.get_by_role("heading", name=re.compile("^Row r")).inner_text().removeprefix("Row ")
    ask.click()
    expect(page.locator(room.CARD)).to_have_attribute("data-row", row)

    page.goto(f"{server.base}/map?project={project}")
    marks.first.wait_for()
    page.locator(".js-plotly-plot").hover()
    page.locator("[data-title='Lasso Select']").click()
    plot = room.place_of(page.locator(".js-plotly-plot .nsewdrag"))
    left, top, right, low = 4, 40, plot["width"] - 4, plot["height"] - 4
    page.mouse.move(plot["x"] + left, plot["y"] + top)
    page.mouse.down()
    for x, y in ((right, top), (right, low), (left, low), (left, top)):
        page.mouse.move(plot["x"] + x, plot["y"] + y, steps=8)
    page.mouse.up()
    together = page.get_by_role("button", name=re.compile("^Look at [0-9]+ of them together$"))
    together.click()
    page.locator(".tiles").wait_for()
    assert page.locator(".tick").count() > 1
    assert not errors
