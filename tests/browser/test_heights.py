"""What stands in a page until its scripts have come is as high as what comes: nothing below it jumps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser

LATE = re.compile(
    r"/static/js/(DataFrame|TextInput|Selectbox|Checkbox|Radio|Multiselect|Metric|PlotlyChart|Pagination)\.[^/]*\.js"
)
"""Streamlit's scripts that a page is drawn without at first, and without any of which there is a skeleton."""
LAST = {
    "queue": "rows are open",
    "review": "answered rows, the latest answer first",
    "progress": "When to stop",
    "map": "Rows that look alike",
}
"""Words that stand below what comes late."""
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
NEARLY = 20
"""Pixels that text may move which has its own font late."""


class Gate:
    """Holds what comes until it is opened."""

    def __init__(self) -> None:
        self.held: list[Route] | None = []

    def come(self, route: Route) -> None:
        if self.held is None:
            route.continue_()
        else:
            self.held.append(route)

    def open(self) -> None:
        held, self.held = self.held or [], None
        for one in held:
            one.continue_()


def top(page: Page, words: str) -> float:
    box = page.get_by_text(words).first.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LAST)
def test_what_stands_below_stays_where_it_is(
    looked_at: tuple[Server, Path], browser: Browser, name: str, size: str
) -> None:
    server, state = looked_at
    context = browser.new_context(viewport=SIZES[size], storage_state=state)  # type: ignore[arg-type]
    page, gate = context.new_page(), Gate()
    page.route(LATE, gate.come)
    page.goto(f"{server.base}/{name}")
    expect(page.get_by_text(LAST[name]).first).to_be_visible()
    skeletons = page.get_by_test_id("stSkeleton")
    expect(skeletons.first).to_be_attached()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    before = top(page, LAST[name])
    gate.open()
    expect(skeletons).to_have_count(0)
    assert top(page, LAST[name]) == pytest.approx(before, abs=NEARLY)
    context.close()
