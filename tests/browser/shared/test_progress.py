"""Progress and Map in a real browser: charts drawn, their picture and data to take away, the owner's rules."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser

CHART = ".js-plotly-plot .main-svg"


def test_the_stop_rules_are_set_on_the_page(
    page: Page, server: Server, digits: int, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    page.goto(f"{server.base}/progress?project={digits}")
    page.locator(CHART).first.wait_for()
    page.get_by_role("button", name="Change the rules").click()
    panel = page.get_by_test_id("stPopoverBody")
    panel.get_by_text("Budget", exact=True).click()
    panel.get_by_label("Answers in all").fill("7")
    panel.get_by_role("button", name="Save").click()
    expect(page.get_by_text("0 of 7 answers are given.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("0 of 7 answers are given.")).to_be_visible()
    assert not errors


def test_a_chart_gives_its_picture_and_its_data(page: Page, server: Server, digits: int) -> None:
    page.goto(f"{server.base}/map?project={digits}")
    page.locator(CHART).first.wait_for()
    with page.expect_download() as asked:
        page.get_by_role("button", name="Data (CSV)").click()
    with Path(asked.value.path()).open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 100
    assert {line["state"] for line in lines} <= {"open", "answered", "given", "held out", "bad"}
    page.locator(".js-plotly-plot").first.hover()
    with page.expect_download() as asked:
        page.locator("[data-title='Download plot as a PNG']").first.click()
    assert Path(asked.value.path()).read_bytes().startswith(b"\x89PNG")
