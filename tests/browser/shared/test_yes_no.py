"""A round in yes and no, by the keys."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from plcore import LabelTable, LearnerSettings, Roles
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_accessibility import findings
from tests.workflow.world import small_frame
from workflow.answering.oracle import answer_for_me
from workflow.answering.room import RoomSettings, change_room
from workflow.kinds.one_label.forms import ANEW_AFTER, FROM_ANSWERS
from workflow.projects.managing import create_project
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

GROUPS = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}


@pytest.fixture
def project(home: Home, name: str) -> int:
    """Rows that have all four classes, three of them well apart; the first 200 are answered."""
    frame = small_frame(FROM_ANSWERS + 20)
    frame["candidates"] = "ant|bee|cat|dog"
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))
    settings = LearnerSettings(n_neighbors=4, test_share=0.0, strategy="random")
    project = create_project(Seat(home, OWNER), name, LabelTable.from_frame(frame, roles), settings)
    seat = Seat(home, OWNER, project)
    change_room(seat, RoomSettings(forms="cheapest", drawn_forms=False, groups=GROUPS))
    assert answer_for_me(seat, FROM_ANSWERS) == FROM_ANSWERS
    return project


def said(server: Server, project: int) -> list[tuple[str, list[str], str]]:
    """Kind, labels and form of the entries in yes and no, or after."""
    return [
        (one["kind"], json.loads(one["labels"]), json.loads(one["asked"] or '{"form": ""}')["form"])
        for one in room.log_of(server, project)[FROM_ANSWERS:]
    ]


def test_a_round_in_yes_and_no_by_the_keys(page: Page, server: Server, project: int) -> None:
    # What questions cost is learnt before the first answer: on a busy machine all of them take long.
    page.goto(f"{server.base}/settings?project={project}")
    expect(page.get_by_text("Until answers tell, Winnow assumes")).to_be_attached()
    room.annotate(page, server, project)
    named = page.locator(".named")

    def next_yes_no() -> tuple[str, str]:
        """Skip to a question in yes and no; what it names, and its row."""
        while named.count() == 0:
            room.press(page, "s")
        expect(page.get_by_role("heading", name="Is it this one?")).to_be_visible()
        return named.inner_text(), room.row_id(page)

    first, row = next_yes_no()
    before = len(said(server, project))
    expect(page.locator(".verdict .label")).to_have_text(["Yes", "No"])

    assert findings(page) == []

    # No, by letter: the row stays, without that candidate. Then yes, by digit.
    page.keyboard.press("Enter")  # which is no answer
    room.press(page, "n")
    assert room.row_id(page) == row
    expect(page.locator(".saved")).to_contain_text(f"Saved: row {row} is not {first}")
    if named.count() == 0:  # of three that are alike "which" may tell more
        assert first not in room.labels_on_screen(page)
    room.press(page, "1")
    assert room.row_id(page) != row
    no, yes = said(server, project)[before:]
    assert no == ("not", [first], "is")
    assert yes[0] == "is"
    assert first not in yes[1]
    room.press(page, "u")
    assert room.row_id(page) == row
    room.press(page, "s")

    # Yes by letter, no by digit.
    likely, _ = next_yes_no()
    room.press(page, "y")
    assert said(server, project)[-1] == ("is", [likely], "is")
    likely, _ = next_yes_no()
    room.press(page, "2")
    assert said(server, project)[-1] == ("not", [likely], "is")
    room.press(page, "s")

    # One key shows all choices, on their own keys; the log has how it was asked.
    next_yes_no()
    page.keyboard.press("m")  # marks nothing here
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Which one is it?")).to_be_visible()
    expect(page.locator(".choice[data-label]")).to_have_count(4)
    chosen = page.locator(".choice[data-key='2']").get_attribute("data-label")
    room.press(page, "2")
    assert said(server, project)[-1] == ("is", [chosen], "is")

    # What is always there.
    next_yes_no()
    page.keyboard.press("0")
    page.get_by_role("dialog", name="Find a class").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="One of a group")
    expect(dialog.locator(".label")).to_have_text(["furry", "insect"])
    room.press(page, "1")
    assert said(server, project)[-1] == ("among", ["cat", "dog"], "is")
    next_yes_no()
    room.press(page, "c")
    assert said(server, project)[-1][0] == "unsure"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("A shows all choices")
    assert len(said(server, project)) < ANEW_AFTER, "or how long they took here would tell"
