"""Three annotators, two per row: they disagree, a reviewer settles the row by keyboard, and the export has all of
it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from plcore import LearnerSettings, read_cells
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER, member
from tests.workflow.world import small_table
from workflow.exporting import files
from workflow.exporting.files import ExportChoice
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


@pytest.fixture
def project(home: Home, server: Server, name: str) -> int:
    """A project whose rows two people answer; its number."""
    settings = LearnerSettings(n_neighbors=4, overlap=2, fold="majority", test_share=0.5)
    return managing.create_project(Seat(home, OWNER), name, small_table(), settings)


def test_dispute_is_raised_settled_by_keys_and_exported(
    page: Page, server: Server, browser: Browser, home: Home, project: int
) -> None:
    ada = member(browser, server, home, project, "Ada")
    ben = member(browser, server, home, project, "Ben")
    eve = member(browser, server, home, project, "Eve", "reviewer")
    eve.goto(f"{server.base}/disputes?project={project}")
    expect(eve.get_by_role("heading", name="No disputes")).to_be_visible()

    room.annotate(ada, server, project)
    by_name = sorted(room.labels_on_screen(ada))
    row, given = room.row_id(ada), [by_name[0], by_name[-1]]
    ada.keyboard.press("t")
    ada.keyboard.type("It has no wings.")
    ada.keyboard.press("Escape")
    room.press(ada, room.key_for(ada, given[0]))
    room.annotate(ben, server, project)
    assert room.row_id(ben) == row, "what was begun comes first"
    room.press(ben, room.key_for(ben, given[1]))

    eve.goto(f"{server.base}/disputes?project={project}")
    eve.locator(room.CARD).wait_for()
    assert room.row_id(eve) == row
    said = eve.get_by_role("region", name="Who said what")
    expect(said).to_contain_text("Ada")
    expect(said).to_contain_text("It has no wings.")
    expect(said).to_contain_text("Ben")
    for number, label in enumerate(by_name[:1] + by_name[-1:]):
        for place in (said, eve.get_by_role("region", name="Verdict")):
            named = place.locator(".label", has_text=label)
            expect(named.locator(".swatch")).to_have_attribute("data-mark", str(number))
    store = eve.get_by_role("button", name="Store the verdict")
    expect(store).to_be_disabled()
    eve.keyboard.press(room.key_for(eve, given[1]))
    eve.keyboard.press(room.key_for(eve, given[0]))
    expect(eve.locator('.choice[aria-pressed="true"]')).to_have_count(1)
    expect(store).to_be_enabled()
    eve.keyboard.press("Enter")
    expect(eve.get_by_role("heading", name="No disputes")).to_be_visible()
    expect(eve.locator(".saved")).to_contain_text(f"row {row}, verdict: {given[0]}")

    eve.keyboard.press("Enter")  # the page offers an undo
    expect(eve.locator(room.CARD)).to_have_attribute("data-row", row)
    expect(eve.locator(".saved")).to_contain_text("was withdrawn")
    eve.keyboard.press("t")
    eve.keyboard.type("Seen under the lens.")
    eve.keyboard.press("Escape")
    eve.keyboard.press("x")
    eve.keyboard.press(room.key_for(eve, given[1]))
    eve.keyboard.press("Enter")
    expect(eve.get_by_role("heading", name="No disputes")).to_be_visible()

    kinds = [one["kind"] for one in room.log_of(server, project)]
    assert kinds == ["is", "is", "verdict", "withdraw", "verdict"]
    assert room.log_of(server, project)[-1]["note"] == "Seen under the lens."
    ada.goto(f"{server.base}/disputes?project={project}")
    expect(ada.get_by_text("Only reviewers and owners can open this page.")).to_be_visible()
    ada.get_by_test_id("stTopNavSection").filter(has_text="Explore").click()
    expect(ada.get_by_role("menuitem", name="Map")).to_be_visible()
    expect(ada.get_by_role("menuitem", name="Disputes")).to_have_count(0)

    page.goto(f"{server.base}/export?project={project}")
    page.get_by_role("button", name="Download CSV").wait_for()
    taken = files.take(Seat(home, OWNER, project), ExportChoice())
    target = server.home / "taken.csv"
    files.write_file(taken, target, lambda _: None)
    table = read_cells(target.read_bytes())
    line = table[table["id"] == row].iloc[0]
    assert (line["winnow_label"], line["winnow_source"]) == (given[1], "verdict")
    assert line["winnow_people"] == "2"
    assert [(one["person"], one["kind"], one["labels"]) for one in json.loads(line["winnow_answers"])] == [
        ("Ada", "is", [given[0]]),
        ("Ben", "is", [given[1]]),
        ("Eve", "verdict", [given[1]]),
    ]
    for one in (ada, ben, eve):
        one.context.close()
