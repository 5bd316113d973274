"""Training, models to choose from, and shortlists in the browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_training import PATIENCE, wait_for_model
from tests.workflow.shortlisted import answer_rows, checks_left, shortlist_project
from tests.workflow.world import small_project
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


@pytest.fixture
def project(home: Home, name: str) -> int:
    """A project with a trained model."""
    return small_project(home, OWNER, name, model="plsvc", strategy="margin", train_every=2)


@pytest.mark.proof
@pytest.mark.timeout(3 * PATIENCE)
def test_model_versions_follow_answers(page: Page, server: Server, project: int) -> None:
    room.annotate(page, server, project)
    wait_for_model(page, server, project, 0)
    for _ in range(4):
        shown = room.token(page)
        page.keyboard.press(room.first_key(page))
        room.wait_for_next(page, shown)
    wait_for_model(page, server, project, 2)
    page.goto(f"{server.base}/progress?project={project}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=PATIENCE * 1000)
    page.get_by_text("More figures").click()
    expect(page.get_by_text(re.compile("has learnt from the log up to entry [1-9]"))).to_be_visible()


def test_models_page_uses_another_model_and_automatic_by_keyboard(page: Page, server: Server, project: int) -> None:
    page.goto(f"{server.base}/models?project={project}")
    used = page.get_by_role("row").filter(has_text="In use")
    expect(used).to_contain_text("Largest margin PL-SVM")
    page.get_by_role("button", name="Use this model: Average loss").press("Enter")
    expect(used).to_contain_text("Average loss CLPL")
    expect(page.locator(".models button:focus")).to_have_count(1)  # the keyboard continues if it was
    expect(page.get_by_text("Winnow uses CLPL until you choose another model.")).to_be_visible()
    page.get_by_text("4 more models").press("Enter")
    expect(page.get_by_role("button", name="Use this model: Fast margin")).to_have_count(2)
    page.get_by_role("switch", name="Automatic").press("Space")
    expect(page.get_by_text("Automatic is on")).to_be_visible()
    expect(page.get_by_role("button", name="Use this model: Fast margin").first).to_be_visible()


# Choices shown first: keys answer the visible ones, one key shows the others, "none of these" lists them


def shortlisted(seat: Seat) -> int:
    """How many choices the owner's current question shows first, with others hidden."""
    with seat.learner() as opened:
        pool = opened.learner.pool
        rows = [int(row) for row in pool.train if pool.sizes[row] >= 2]
    return next(first for first in (loop.ask_next(seat, row).first for row in rows) if first is not None)


def test_choices_outside_shortlist_are_one_key_away(page: Page, server: Server, home: Home) -> None:
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
    page.keyboard.press(hidden_key)  # of a hidden choice: nothing happens
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
    page.evaluate("window.dispatchEvent(new KeyboardEvent('keydown', { key: '.', code: 'Comma', shiftKey: true }))")
    expect(choices).to_have_count(6)

    page.goto(f"{server.base}/settings?project={project}")
    page.get_by_role("tab", name="Questions").click()
    expect(page.get_by_text("below 100 the promise is uncertain")).to_be_visible()
    room.choose(page, "Choices shown first", "all of them")
    expect(page.get_by_text("All choices are shown.")).to_be_attached()
    room.annotate(page, server, project)
    expect(choices).to_have_count(6)
