"""The question card: what stands where, on a desk and a phone, and what opens over it."""

from __future__ import annotations

import re
from typing import Literal

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER, Room
from tests.browser.test_accessibility import findings
from workflow.answering.room import RoomSettings, change_room
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def test_many_candidates_leave_the_reason_in_sight_also_under_long_guidelines(
    page: Page, server: Server, home: Home
) -> None:
    names = [f"species {number:02d}" for number in range(14)]
    frame = pd.DataFrame(
        {"id": range(30), "candidates": "|".join(names[:13]), "x": range(30), "y": range(30)}
    )
    frame.loc[0, "candidates"] = names[13]
    room.import_csv(page, server.base, frame, "many")
    project = int(re.search(r"project=(\d+)", page.url)[1])  # type: ignore[index]
    rules = "\n".join(f"1. Rule {k}." for k in range(80))
    change_room(Seat(home, OWNER, project), RoomSettings(rules, "fixed", {}))
    page.reload()
    page.locator(room.CARD).wait_for()
    expect(page.locator(".choice")).to_have_count(13)
    room.settle(page)
    footer = page.locator(".foot").bounding_box()
    reason, choices = page.locator(".why").bounding_box(), page.locator(".choices").bounding_box()
    assert footer is not None
    assert reason is not None
    assert choices is not None
    assert reason["y"] + reason["height"] <= footer["y"]
    assert choices["height"] > 300, "most candidates are seen at once"
    page.keyboard.press("g")
    expect(page.get_by_text("Rule 1.", exact=True)).to_be_visible()
    page.wait_for_timeout(500)
    card = page.locator(room.CARD).bounding_box()
    assert card is not None
    assert card["y"] < 500, "the question stays on the screen"


def test_the_image_is_zoomed_and_the_keys_stay_its_own(page: Page, server: Server, digits: int) -> None:
    room.annotate(page, server, digits)
    page.keyboard.press("z")
    zoom = page.get_by_role("dialog", name=re.compile("Image of row"))
    image = zoom.get_by_role("img")
    small = image.bounding_box()
    page.keyboard.press("+")
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -400)
    assert small is not None
    page.wait_for_function(  # the wheel is heard when the browser has time
        "([image, least]) => image.getBoundingClientRect().width > least",
        arg=[image.element_handle(), 3 * small["width"]],
    )
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(zoom).to_have_count(0)
    assert room.log_of(server, digits) == []


def test_every_button_is_reached_by_tab_and_seen(annotating: Page) -> None:
    page = annotating
    page.evaluate("document.activeElement?.blur()")
    reached, outlines = set(), []
    for _ in range(70):
        page.keyboard.press("Tab")
        found = page.evaluate("""() => {
            let node = document.activeElement;
            while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
            if (!node?.closest?.('.card')) return null;
            return [node.getAttribute('aria-label') || node.innerText, getComputedStyle(node).outlineStyle];
        }""")
        if found:
            reached.add(found[0].replace("\n", " "))
            outlines.append(found[1])
    names = " | ".join(reached)
    for name in (
        "the model's share",
        "Rule out",
        "None of these",
        "Mark several",
        "Cannot tell",
        "Skip",
    ):
        assert name in names, f"{name} is not reached by Tab: {names}"
    for name in ("Bad item", "Note", "Flag", "History", "Keys", "features"):
        assert name in names, f"{name} is not reached by Tab: {names}"
    assert set(outlines) == {"solid"}, "the focus is always visible"


def test_a_phone_has_a_large_button_for_everything(browser: Browser, signed_in: str, here: Room) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    page = context.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    for button in page.locator(".card button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44, button.inner_text()

    def tap(name: str) -> None:
        shown = room.token(page)
        page.get_by_role("button", name=name, exact=True).first.tap()
        room.wait_for_next(page, shown)

    rules_out = page.locator(".out").first.get_attribute("aria-label")
    assert rules_out is not None
    tap(rules_out)
    more = page.get_by_role("button", name="More")
    for name in ("Cannot tell", "Bad item", "Skip", "Undo my last answer"):
        if name == "Bad item":
            more.tap()
        tap(name)
    more.tap()
    page.get_by_role("button", name="Mark several").tap()
    page.locator(".choice").nth(0).tap()
    page.locator(".choice").nth(1).tap()
    tap("Save: one of these 2")
    page.get_by_role("button", name="None of these…").tap()
    shown = room.token(page)
    page.get_by_role("option", name="None of these, and I cannot say which").tap()
    room.wait_for_next(page, shown)
    page.wait_for_timeout(300)
    top = page.locator(".instance").bounding_box()
    assert top is not None
    assert 0 <= top["y"] < 400, "the next instance begins where one looks"
    assert here.kinds() == ["not", "unsure", "bad", "skip", "withdraw", "among", "none"]
    context.close()


def test_the_menu_of_a_phone_closes_once_a_page_is_chosen(
    browser: Browser, signed_in: str, here: Room
) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    page = phone.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    drawer = page.get_by_test_id("stSidebar")
    for name in ("Progress", "Map"):
        page.get_by_test_id("stExpandSidebarButton").tap()
        expect(drawer).to_have_attribute("data-collapsed", "false")
        drawer.get_by_role("link", name=name).tap()
        page.wait_for_url(f"**/{name.lower()}*")
        expect(drawer).to_have_attribute("data-collapsed", "true")
    page.reload()
    page.get_by_text(f"Map · {here.name}").wait_for()
    expect(drawer).to_have_attribute("data-collapsed", "true")
    phone.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_over_the_card_has_no_serious_finding(
    browser: Browser, signed_in: str, here: Room, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, storage_state=signed_in)
    page = context.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    room.press(page, "1")
    room.press(page, "u")
    wrong = {}
    for key in ("0", "h", "?", "m", "t"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        if found := findings(page):
            wrong[key] = found
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)
    context.close()
    assert not wrong


def test_guidelines_are_text_and_open_by_their_key(annotating: Page) -> None:
    page = annotating
    words = page.get_by_text("Look twice.")
    expect(words).to_be_hidden()
    page.keyboard.press("g")
    expect(words).to_be_visible()
    expect(words).to_contain_text("<img")
    assert page.evaluate("window.hurt") is None
    page.keyboard.press("g")
    expect(words).to_be_hidden()


def test_candidates_stand_in_the_rooms_order_with_their_descriptions(annotating: Page) -> None:
    page = annotating
    for _ in range(3):
        assert room.labels_on_screen(page) == ["ant", "bee", "cat"]
        expect(page.locator(".choice", has_text="cat")).to_contain_text("with whiskers")
        expect(page.locator(".model")).to_have_text("model")
        expect(page.locator(".model")).to_have_attribute("title", re.compile("which has learnt from the "))
        room.press(page, "1")
