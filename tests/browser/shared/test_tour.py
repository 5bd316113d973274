"""The tour of a demo on a phone: one line that moves no choice, opened over the row, folded and ended by a tap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.shared.test_question_page import box, phone, sideways, six_project
from tests.browser.test_accessibility import findings
from workflow import demos
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["phone"]

pytestmark = pytest.mark.browser


@pytest.fixture
def demo(home: Home) -> Iterator[int]:
    """A project with six choices a row under a demo's name: that is what makes it one."""
    number = six_project(home, demos.CALLS.name, "sound")
    yield number
    managing.bin_project(Seat(home, OWNER, number))


def places(page: Page) -> list[dict[str, float]]:
    room.settle(page)
    return [box(page, one) for one in (".choice >> nth=0", ".choice >> nth=5", ".foot")]


def test_on_a_phone_a_tour_hides_none_of_six_choices(phone: Page, server: Server, demo: int) -> None:
    page = phone
    room.annotate(page, server, demo)
    tour, words = box(page, ".st-key-winnow_tour"), page.locator(".st-key-winnow_tour")
    assert tour["height"] <= 44, "one line"
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_hidden()
    before = places(page)
    assert box(page, ".instance")["height"] >= 0.3 * 844
    last, foot = before[1:]
    assert last["y"] + last["height"] <= foot["y"], "all six are in sight"
    assert foot["y"] + foot["height"] == pytest.approx(844, abs=1)
    for name in ("Read", "End the tour"):
        place = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert place is not None
        assert place["height"] >= 43.5, name

    page.get_by_role("button", name="Read", exact=True).tap()
    expect(page.get_by_role("button", name="Fold", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_visible()  # it is open then
    assert places(page) == before, "it lies over the row"
    opened = box(page, ".st-key-winnow_tour")
    assert tour["height"] < opened["height"]
    assert opened["y"] + opened["height"] <= before[0]["y"]
    expect(words).to_contain_text("press the number of the one that is loudest")
    assert sideways(page) <= 0
    assert findings(page) == []

    page.get_by_role("button", name="Next", exact=True).tap()
    expect(page.get_by_text("Tour, 2 of 5")).to_be_visible()
    page.get_by_role("button", name="Fold", exact=True).tap()
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_visible()
    assert places(page) == before
    room.press(page, "1")
    assert places(page) == before

    page.get_by_role("button", name="End the tour").tap()
    expect(page.locator(".st-key-winnow_tour")).to_have_count(0)
    room.settle(page)
    assert box(page, ".instance")["height"] >= 0.37 * 844, "the row has its room again"


def test_on_a_desk_it_is_read_as_it_stands(page: Page, server: Server, demo: int) -> None:
    room.annotate(page, server, demo)
    expect(page.locator(".st-key-winnow_tour")).to_contain_text("press the number of the one that is loudest")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_visible()
    for name in ("Read", "Fold"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
