"""Two questions about each row, answered one after the other in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.workflow.two_questions import two_labels_frame
from workflow import importing
from workflow.projects import linking
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def test_two_questions_about_row_are_answered_in_turn(
    page: Page, server: Server, home: Home, name: str, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, blocked = errors_of(page), room.violations(page)
    seat = Seat(home, OWNER)
    csv = two_labels_frame()[:2].to_csv(index=False).encode()  # both rows are open in both projects
    chosen = {"candidates": "species"}
    first, _ = importing.bring_in(
        seat, csv, "b.csv", chosen, project=name, settings={"control_share": 0.0}, further=("behaviour",)
    )
    (second,) = linking.further_of(seat.at(first))
    walk, saved = page.locator(".walk"), page.locator(".saved")
    room.annotate(page, server, first)
    expect(walk).to_have_text("1 of 2: species")
    asked = room.row_id(page)
    page.keyboard.press("t")
    page.keyboard.type("odd")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(walk).to_have_text("2 of 2: behaviour")
    assert room.row_id(page) == asked
    expect(saved).to_contain_text(f"Saved in species: row {asked} is ")
    expect(page.get_by_role("button", name="Note")).to_have_attribute("aria-expanded", "false")
    assert f"project={second.id}" in page.url

    page.reload()
    expect(walk).to_have_text("2 of 2: behaviour")
    page.keyboard.press("u")
    expect(walk).to_have_text("1 of 2: species")
    assert room.row_id(page) == asked
    page.keyboard.press("1")
    expect(walk).to_have_text("2 of 2: behaviour")
    page.keyboard.press("1")
    expect(walk).to_have_text("1 of 2: species")
    assert room.row_id(page) != asked
    page.keyboard.press("1")
    expect(walk).to_have_text("2 of 2: behaviour")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Nothing left to ask you")).to_be_visible()
    kinds = [entry["kind"] for entry in room.log_of(server, first)]
    assert kinds == ["is", "withdraw", "is", "is"]
    assert [entry["kind"] for entry in room.log_of(server, second.id)] == ["is", "is"]
    assert (errors, blocked) == ([], [])
