"""Review of label vectors in the browser, without a mouse: find an answer, correct the row, see it in the export."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_accessibility import findings
from tests.workflow.vector_world import vector_project
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def test_an_answer_is_found_corrected_and_made_not_known_without_a_mouse(
    page: Page, server: Server, home: Home, name: str, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    project = vector_project(home, OWNER, name, question="cell")
    room.annotate(page, server, project)
    asked, label = room.row_id(page), page.locator(".named").inner_text()
    room.press(page, "y")

    page.goto(f"{server.base}/review?project={project}")
    page.get_by_text("1 answer, the latest answer first").wait_for()
    room.open_first_line(page)
    page.get_by_role("heading", name=f"Row {asked}", exact=True).wait_for()
    right = page.get_by_text("As it stands").locator("xpath=following::p[1]")
    expect(right).to_contain_text(label)
    assert not findings(page)
    room.choose(page, "Is not right", label)
    send(page)
    expect(page.get_by_test_id("stToast")).to_contain_text(f"is not right: {label}")
    expect(right).not_to_contain_text(label)
    room.choose(page, "Not known any more", label)
    send(page)
    expect(page.get_by_test_id("stToast").last).to_contain_text(f"not known any more: {label}")
    page.get_by_text("No answer fits all of this").wait_for()
    kinds = [(entry["kind"], entry["strategy"]) for entry in room.log_of(server, project)]
    assert kinds[1:] == [("no", "review"), ("withdraw", "review"), ("withdraw", "review")]

    page.goto(f"{server.base}/map?project={project}&colour=State")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    expect(page.get_by_text("some label can still be asked about")).to_be_visible()
    assert not errors


def send(page: Page) -> None:
    page.keyboard.press("Escape")
    button = page.get_by_role("button", name="Save the correction")
    button.focus()
    page.keyboard.press("Enter")
