"""Choices shown first: keys answer those on the screen, one key brings the others, "none of these" lists them."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.workflow.shortlisted import answer_rows, checks_left, shortlist_project
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

OWNER = 1


def shortlisted(seat: Seat) -> int:
    """How many choices are shown first of a question that is before the owner now, with others behind the key."""
    with seat.learner() as opened:
        pool = opened.learner.pool
        rows = [int(row) for row in pool.train if pool.sizes[row] >= 2]
    return next(first for first in (loop.ask_next(seat, row).first for row in rows) if first is not None)


def test_the_others_are_one_key_away(page: Page, server: Server, home: Home) -> None:
    project, truth = shortlist_project(home, OWNER, 0.9)
    seat = Seat(home, OWNER, project)
    answer_rows(seat, checks_left(home, OWNER, project)[:40], truth)
    first = shortlisted(seat)

    room.annotate(page, server, project)
    choices = page.locator(".choice")
    more = page.get_by_role("button", name=f"{6 - first} more choices")
    expect(choices).to_have_count(first)
    expect(more).to_be_visible()
    hidden_key = str(first + 1)
    page.keyboard.press(hidden_key)  # of a choice that nobody sees: nothing happens
    expect(choices).to_have_count(first)
    asked = room.token(page)
    page.keyboard.press(".")
    expect(choices).to_have_count(6)
    expect(more).to_have_count(0)
    expect(choices.nth(first)).to_be_focused()
    expect(page.locator(".spoken")).to_contain_text(f"{6 - first} more choices")
    assert room.token(page) == asked
    label = room.labels_on_screen(page)[first]
    room.press(page, hidden_key)
    stored = room.log_of(server, project)[-1]
    assert (stored["kind"], json.loads(stored["labels"])) == ("is", [label])
    how = json.loads(stored["asked"])
    assert (how["choices"], len(how["first"])) == (first, first)

    first = shortlisted(seat)
    room.annotate(page, server, project)
    expect(choices).to_have_count(first)
    before = room.log_of(server, project)
    page.keyboard.press("0")  # rules out all of them, so they are shown, under the search
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{6 - first} choices that you had not seen are listed now")
    page.keyboard.type("cxs")  # a name, and no answers
    expect(dialog.get_by_role("combobox")).to_have_value("cxs")
    expect(choices).to_have_count(6)
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    expect(dialog).to_be_visible()
    expect(dialog).not_to_contain_text("listed now")
    page.keyboard.press("Escape")
    assert room.log_of(server, project) == before

    room.annotate(page, server, project)
    expect(choices).to_have_count(first)
    # Where the full stop needs Shift.
    page.evaluate(
        "window.dispatchEvent(new KeyboardEvent('keydown', { key: '.', code: 'Comma', shiftKey: true }))"
    )
    expect(choices).to_have_count(6)

    page.goto(f"{server.base}/settings?project={project}")
    page.get_by_role("tab", name="Answering room").click()
    expect(page.get_by_text("below 100 the promise is uncertain")).to_be_visible()
    room.choose(page, "Choices shown first", "all of them")
    page.get_by_role("button", name="Save the answering room").click()
    expect(page.get_by_text("All choices are shown at once.")).to_be_attached()
    room.annotate(page, server, project)
    expect(choices).to_have_count(6)
